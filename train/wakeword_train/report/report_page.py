"""The page about a model: one HTML file that loads nothing, in plain words, with sounds to click."""

import shlex
from pathlib import Path

from wakeword.base.files import replacing
from wakeword.format.card import ModelCard
from wakeword_train.report.markup import commands, text
from wakeword_train.report.page_details import details
from wakeword_train.report.page_findings import findings
from wakeword_train.report.verdict import NextStep, verdict
from wakeword_train.training import TrainingResult

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h1{margin-bottom:0}.good,.fair,.weak{padding:.8rem 1rem;border-radius:.5rem}.good{background:#dff3e3}
.fair{background:#fdf2d0}.weak{background:#fbe0dd}table{border-collapse:collapse}
td,th{padding:.2rem .8rem .2rem 0;text-align:left}
svg{width:100%;max-width:34rem}svg path{fill:none;stroke:#0b62a4;stroke-width:2}svg circle{fill:#c33}svg line{stroke:#ccc}
svg text{font-size:11px;fill:#555}audio{height:2rem;vertical-align:middle}li{margin:.3rem 0}
code,pre{background:#eee;padding:.1rem .3rem}pre{padding:.5rem .8rem;overflow-x:auto}pre code{padding:0}
details{margin-top:2rem}summary{font-size:1.2rem;cursor:pointer}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.good{background:#1f3d27}.fair{background:#463b12}
.weak{background:#4a211d}code,pre{background:#333}svg text{fill:#aaa}svg path{stroke:#6bb3e8}}
"""


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
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        'media-src data:">'
        f"<title>{text(card.phrase)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


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
