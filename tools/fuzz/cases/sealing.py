"""Changed model files whose digest is right again, so that what is behind the check of the digest is attacked."""

from wakeword import ModelError
from wakeword.format.digest import sealed as with_digest


def sealed(data: bytes) -> bytes:
    """The file as its maker would have written it; what no maker could seal, such as text that is no UTF-8, as it is."""
    try:
        return with_digest(data)
    except ModelError:
        return data
