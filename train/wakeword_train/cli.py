"""What ``wakeword train`` starts: a training, or a model from the text alone, which takes may teach."""

from pathlib import Path

from wakeword_train.train_options import TrainOptions


def train(options: TrainOptions, *, text_first: bool = True) -> None:
    """Make what the options ask for, and print its file. A model from the text needs no torch, which is slow to import.

    ``text_first`` as in ``run_command``.
    """
    if options.now:
        from wakeword_train.from_text import make_now

        print(make_now(options))
        return
    if options.base is not None:
        from wakeword_train.from_takes import is_typed, make_learned

        if is_typed(options.base):
            print(make_learned(options))
            return
    from wakeword_train.train_command import run_command

    run_command(options, text_first=text_first)


def train_text(word: str, engine: str | None, work: Path) -> None:
    """What ``wakeword export`` starts for a text without a model; ``engine`` as in ``--for``."""
    train(TrainOptions(word=word, engine=engine, work=work), text_first=False)
