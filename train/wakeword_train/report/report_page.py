"""The page about a model: one HTML file that loads nothing, in plain words, with sounds to click."""

import shlex
from pathlib import Path

from wakeword.base.files import replacing
from wakeword.format.card import ModelCard
from wakeword_tools.page.markup import commands, document, text
from wakeword_train.report.page_details import details
from wakeword_train.report.page_findings import findings
from wakeword_train.report.verdict import NextStep, verdict
from wakeword_train.training import TrainingResult


def write_page(path: Path, card: ModelCard, result: TrainingResult, *, model: str) -> None:
    """Write the page about a model to ``path``, complete or not at all. ``model``: its file's name, for commands."""
    with replacing(path) as temporary:
        temporary.write_text(page(card, result, model=model), encoding="utf-8")


def page(card: ModelCard, result: TrainingResult, *, model: str) -> str:
    """The page as HTML. All text from outside is escaped, and the page may load nothing but what it holds."""
    judged = verdict(card, model)
    steps = (_try_it(model), *judged.advice, _improve(model))
    parts = [
        f"<h1>{text(card.phrase)}</h1><p>A wake word, trained on {text(card.version)}.</p>",
        f'<p class="{judged.grade}"><b>{judged.grade.capitalize()}.</b> '
        f"It {text(judged.finds)}; it {text(judged.wakes)}.</p>",
        findings(card, result.second_stage),
        f"<h2>What to do next</h2><ol>{''.join(map(_step, steps))}</ol>",
        details(card, result),
    ]
    return document(card.phrase, parts)


def _step(step: NextStep) -> str:
    return f"<li>{text(step.words[0].upper() + step.words[1:])}.{commands(step.commands)}</li>"


def _try_it(model: str) -> NextStep:
    return NextStep("try it", (f"wakeword listen --model {shlex.quote(model)}",))


def _improve(model: str) -> NextStep:
    file, better = shlex.quote(model), shlex.quote(f"better-{model}")
    return NextStep(
        "use it for some days, say which sounds were the word, and let it learn from them",
        (
            f"wakeword listen --model {file} --save kept/ --save-near-misses",
            "wakeword review kept/",
            f"wakeword train --from {file} --positives kept/yes --extend-negatives kept/no --out {better}",
        ),
    )
