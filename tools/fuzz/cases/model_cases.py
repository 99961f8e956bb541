"""Attack: damaged model files. A file with a changed byte is refused, or it is the same model to the last digit."""

from dataclasses import dataclass
from pathlib import Path
from random import Random

from fuzz.cases.laws import BrokenLawError, Case
from fuzz.cases.mutation import damaged, flipped
from fuzz.cases.probe import logits
from wakeword import Model
from wakeword.model.installed import encoders_folder, shipped_models
from wakeword.model.model import parse_model


@dataclass(frozen=True)
class _Original:
    data: bytes
    model: Model
    logits: list[float]


def prepare() -> Case:
    """Cases from the shipped models; ``refused``, or ``same`` where the damage changed nothing."""
    originals = [_read(path) for path in shipped_models().values()]
    others = [one.data for one in originals]
    # Files of other kinds to splice in.
    others += [path.read_bytes() for path in sorted(encoders_folder().glob("*.onnx"))[:1]]

    def case(random: Random, folder: Path) -> str:
        original = random.choice(originals)
        data = (
            flipped(original.data, random)
            if random.random() < 0.5
            else damaged(original.data, random, random.choice(others))
        )
        if data == original.data:
            return "unchanged"
        (folder / "model.onnx").write_bytes(data)
        model = parse_model(data)
        if model.card != original.model.card:
            raise BrokenLawError(f"a damaged file of '{original.model.card.phrase}' loads with another card")
        found = logits(model)
        if found != original.logits:
            raise BrokenLawError(f"a damaged file loads with logits {found}, not {original.logits}")
        return "same"

    return case


def _read(path: Path) -> _Original:
    data = path.read_bytes()
    model = parse_model(data)
    return _Original(data, model, logits(model))
