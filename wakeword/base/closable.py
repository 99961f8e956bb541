"""What ``with`` closes."""

from abc import ABC, abstractmethod
from typing import Self


class Closable(ABC):
    """A context manager that is open from the beginning, and closed at the end of ``with``."""

    @abstractmethod
    def close(self) -> object:
        """End it, in whatever state it is."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
