"""Detections as Parquet, for millions of them. pyarrow is an extra, imported only when it is used."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from wakeword.audio.detection import Detection
from wakeword.base.errors import ConfigError
from wakeword.cli.formats import Write

_ROWS = 100_000
"""Rows of a row group: by number alone, so that the bytes of a file depend on its detections only."""
_COLUMNS = ("file", "keyword", "start", "end", "score", "stage_one")


def require_parquet() -> None:
    """``ConfigError`` if pyarrow is not installed."""
    _pyarrow()


@contextmanager
def parquet_writer(path: Path) -> Iterator[Write]:
    """A function that writes each detection to the file. ``stage_one`` is null for a model of one stage."""
    arrow, parquet = _pyarrow()
    text, number = arrow.string(), arrow.float64()
    schema = arrow.schema(list(zip(_COLUMNS, (text, text, number, number, number, number), strict=True)))
    rows: list[tuple[object, ...]] = []
    with parquet.ParquetWriter(path, schema) as file:

        def flush() -> None:
            columns = zip(*rows, strict=True) if rows else ([] for _ in _COLUMNS)
            file.write_table(arrow.table(dict(zip(_COLUMNS, map(list, columns), strict=True)), schema))
            rows.clear()

        def write(name: str | None, found: Detection) -> None:
            rows.append((_text(name), _text(found.keyword), found.start, found.end, found.score, found.stage_one))
            if len(rows) == _ROWS:
                flush()

        yield write
        flush()


def _text(name: str | None) -> str | None:
    """With escapes for bytes that are not Unicode, which a name of a file can have and a column cannot."""
    return None if name is None else name.encode("utf-8", "backslashreplace").decode("utf-8")


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise ConfigError("--format parquet needs pyarrow, which is not installed; pip install '.[parquet]'") from error
