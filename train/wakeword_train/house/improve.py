"""``wakeword improve``: a model learns from kept events, and is replaced only by a better one."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.errors import ConfigError
from wakeword.base.plugins import require_training_packages
from wakeword.base.text import counted
from wakeword.cli.console import note
from wakeword.cli.option_class import command
from wakeword.cli.options import PointOptions
from wakeword.model.installed import model_file, shipped_models, user_folder
from wakeword.model.loading import chosen_thresholds
from wakeword.model.model import read_model
from wakeword.model.versions import Versions
from wakeword.saving.ambient_keeper import ambient_folder
from wakeword.saving.keeper import kept_folder
from wakeword.saving.kept_events import forget, kept_events
from wakeword.saving.saved_pairs import delete_saved

_KEPT = typer.Option("--kept", metavar="DIR", help="The kept events. Default: the folder of --keep.")
_FORGET = typer.Option(
    "--forget", help="Delete all kept events and ambient hours, and do nothing else. Improved models stay: --undo."
)


@dataclass(frozen=True, kw_only=True)
class ImproveOptions:
    """The options of the command."""

    model: Annotated[str, typer.Argument(help="An installed model's name, or a model file.")] = ""
    kept: Annotated[Path | None, _KEPT] = None
    points: PointOptions
    undo: Annotated[bool, typer.Option("--undo", help="Put the version before back.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and install nothing.")] = False
    forget: Annotated[bool, _FORGET] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False

    def __post_init__(self) -> None:
        if bool(self.model) is self.forget:
            raise typer.BadParameter("expected a MODEL, or --forget alone")
        if self.forget and (self.undo or self.dry_run or self.as_json):
            raise typer.BadParameter("give --forget alone")
        if self.undo and self.dry_run:
            raise typer.BadParameter("give --undo or --dry-run, not both")
        if not self.points.verify:
            raise typer.BadParameter("improve changes the second stage; leave out --no-verify")


@command
def improve(options: ImproveOptions) -> None:
    """Learn from kept wakes and near misses, and install the new model only if it is surely better.

    It may lose at most one in a hundred of the true wakes and of held-out voices, and must end false wakes that it was not
    taught, with 95 % certainty. Exit status 1 where nothing was installed.
    """
    folder = kept_folder() if options.kept is None else options.kept
    if options.forget:
        _forget(folder)
        return
    path = model_file(options.model)
    if path in shipped_models().values():
        raise ConfigError(
            f"{options.model} is included and stays as it is; make a copy of your own: "
            f"wakeword models install {path} --name my-{path.stem}"
        )
    versions = Versions(path)
    if options.undo:
        undone = versions.undo()
        note(f"{path}: the version of {undone.installed[:10] or 'before'} is in force again")
        return
    if not _improve(options, versions, folder):
        raise typer.Exit(1)


def _improve(options: ImproveOptions, versions: Versions, folder: Path) -> bool:
    require_training_packages()
    # Imported here, so that --help, --undo and --forget work without these packages.
    from wakeword_train.house.improvement import house_of, model_with
    from wakeword_train.house.own_evidence import own_evidence

    path = versions.path
    model = read_model(path)
    (threshold,) = chosen_thresholds([model], options.points.point, options.points.threshold)
    first = versions.first()
    events = kept_events(folder, model.card.phrase)
    house = house_of(
        first,
        path.read_bytes(),
        events,
        lambda heard: own_evidence(heard, _work(), note=note),
        threshold=threshold,
    )
    if short := sum(one.is_word is False and not one.is_whole for one in events):
        note(f"{counted(short, 'false wake')} can only teach: of their audio nothing after the wake was kept")
    new, judged = house.step()
    if options.as_json:
        print(json.dumps({**asdict(judged), "chance": judged.chance, "reason": judged.reason}))
    figures = {**judged.figures(), "chance": judged.chance}
    undone = any(one.figures == figures for one in versions.undone())
    reason = "the version of the same events was undone; keep more events" if undone else judged.reason
    if reason is not None:
        note(f"{path}: nothing was installed: {reason}")
        return False
    said = (
        f"ends {judged.false_fixed} of {judged.false_before} false wakes that it was not taught, loses "
        f"{judged.takes_lost} of {judged.takes} true ones and {judged.voices_lost} of {judged.voices} voices"
    )
    if options.dry_run:
        note(f"{path}: a new version {said}; --dry-run: nothing was installed")
        return True
    versions.replace(model_with(first, new, judged), figures)
    note(f"{path}: a new version {said}; back: wakeword improve {options.model} --undo")
    return True


def _work() -> Path:
    return user_folder("improve")


def _forget(folder: Path) -> None:
    count = forget(folder)
    for path in _work().glob("*.npz"):
        path.unlink(missing_ok=True)
    hours = ambient_folder()
    files = len(delete_saved(hours))
    also = f"; {files} file(s) of ambient hours deleted from {hours}" if files else ""
    note(f"{count} event(s) deleted from {folder}{also}")
