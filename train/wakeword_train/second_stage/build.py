"""The second stage of a model, from clips and a trained first stage to the file of both."""

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from wakeword.model import Model, assets_folder, read_model
from wakeword.operating_point import Rate
from wakeword.scorer import DEFAULT_HOP
from wakeword.types import Scores
from wakeword.verify.card import VerifierCard
from wakeword.verify.embedding import STEP_FRAMES
from wakeword.verify.fusion import LARGEST_GATE, Fusion
from wakeword.verify.head import Head
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE, load_embedding, load_phonemes
from wakeword.verify.verifier import SecondStage
from wakeword_tools.kinds import WORD_KINDS, Kind, Split
from wakeword_tools.measure.intervals import poisson_rate
from wakeword_tools.texts.recogniser import recogniser_variants
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip
from wakeword_train.data.store import ClipStore
from wakeword_train.model.two_stage import shipped_digests
from wakeword_train.second_stage.evidence import (
    Evidence,
    EvidenceReader,
    best_of_span,
    candidate_runs,
    window_logits,
)
from wakeword_train.second_stage.examples import FRAGMENT, ExampleMaker, Words
from wakeword_train.second_stage.fusion_fit import NO_GATE
from wakeword_train.second_stage.groups import best_fusion
from wakeword_train.second_stage.head import HeadNetwork, head_bytes
from wakeword_train.second_stage.head_fit import Background, fit_head
from wakeword_train.second_stage.result import HeldOut, SecondStageResult

PROBE = -4.0
"""The phonemes are asked for in training where the logits of both stages add up to this."""
_PASSED = 0.995
"""Share of the positives that the gate lets pass, if the range of its candidates allows."""
_BELOW_GATE = 2.0
"""Logits below the gate down to which windows are mined."""


@dataclass(frozen=True)
class StandIn:
    """A first stage of the same settings that was trained without some of the background on which the other was."""

    path: Path
    unheard: frozenset[tuple[Path, tuple[float, float] | None]]
    """Recordings or parts of them that it was not trained on."""

    @classmethod
    def of(cls, path: Path, clips: Iterable[Clip]) -> "StandIn":
        """The model file of a training with these clips."""
        held_out = [clip for clip in clips if clip.kind is Kind.BACKGROUND and clip.split is Split.VALIDATION]
        return cls(path, frozenset((clip.path, clip.part) for clip in held_out))

    def may_judge(self, clip: Clip) -> bool:
        """Whether it was not trained on a clip."""
        return clip.kind is Kind.BACKGROUND and (clip.path, clip.part) in self.unheard


class SecondStageTraining:
    """One run: see ``train_second_stage``."""

    def __init__(
        self,
        config: TrainConfig,
        model: Model,
        clips: Iterable[Clip],
        cache: Path,
        advance: Callable[[str], None],
        stand_in: StandIn | None = None,
    ) -> None:
        self.config = config
        self.settings = config.second_stage
        self.model = model
        self.stand_in = stand_in
        self.other = read_model(stand_in.path) if stand_in is not None else model
        self.advance = advance
        kept = [clip for clip in clips if clip.split is not Split.TEST]
        of_kind = {kind: [clip for clip in kept if clip.kind is kind] for kind in Kind}
        self.stores = {kind: ClipStore(some) for kind, some in of_kind.items() if some}
        digest, phonemes = shipped_digests()
        folder = assets_folder() / "encoders"
        self.embedding = load_embedding(folder / EMBEDDING_FILE, digest)
        self.recogniser = load_phonemes(folder / PHONEMES_FILE, phonemes) if self.settings.phonemes else None
        variants = recogniser_variants(config.keyword, self.recogniser.tokens) if self.recogniser is not None else ()
        if not variants:
            self.recogniser = None
        self.draft = VerifierCard(
            gate=0.0,
            span=self.settings.span,
            embedding_digest=digest,
            fusion=Fusion(0.0, 1.0, 1.0, 0.0, 0.0, NO_GATE),
            self_test=0.0,
            phonemes_digest=phonemes if variants else None,
            phonemes=variants,
        )
        self.maker = ExampleMaker(
            self.embedding, digest, self.stores, config.augmentation, cache, seed=config.seed, advance=advance
        )

    def run(self) -> SecondStageResult:
        """Train the heads and the fusion and score what was held out."""
        words = self._words()
        self.advance("the first stage hears the background")
        logits = self._background_logits(DEFAULT_HOP)
        best = [best_of_span(one, self.settings.span) for one in logits]
        held_out = self.held_out()
        positives = self._logits_of(Kind.POSITIVE, held_out.get(Kind.POSITIVE, []))
        gate = self._gate(best, held_out.get(Kind.BACKGROUND, []), [float(one.max()) for one in positives.values()])
        at_embeddings = [
            best_of_span(one, self.settings.span, hop=STEP_FRAMES) for one in self._background_logits(STEP_FRAMES)
        ]
        background = Background(self.maker.recordings(), at_embeddings, self.model.card.window // STEP_FRAMES - 1)
        heads = [self._head(fold, words, background, gate) for fold in (*range(self.settings.folds), None)]
        draft = dataclasses.replace(self.draft, gate=gate)
        evidence = {
            kind: self._evidence(kind, rows, heads, draft, positives if kind is Kind.POSITIVE else None, logits)
            for kind, rows in held_out.items()
        }
        heard = HeldOut(
            evidence,
            {kind: [self.stores[kind].clips[row].synthetic for row in rows] for kind, rows in held_out.items()},
            self._hours(held_out.get(Kind.BACKGROUND, [])),
        )
        description = self._describe(held_out)
        fusion = best_fusion(heard, gate, phonemes=self.recogniser is not None)
        if not fusion.phonemes:
            draft = dataclasses.replace(draft, phonemes=(), phonemes_digest=None)
        card = dataclasses.replace(
            draft,
            fusion=fusion,
            candidates_per_hour=self._rate(best, held_out.get(Kind.BACKGROUND, []), gate),
            data=description,
        )
        return SecondStageResult(head_bytes(heads[-1]), card, heard, description, self._fingerprint(held_out))

    def _words(self) -> dict[str, Words]:
        found: dict[str, Words] = {}
        for kind in WORD_KINDS:
            if kind in self.stores:
                found |= self.maker.words(kind, self.settings.looks, recorded=self.config.mix.recorded)
        return found

    def fold(self, clip: Clip) -> int:
        """The fold of a speaker, or of a synthetic voice."""
        return int(hashlib.sha1(clip.speaker.encode()).hexdigest(), 16) % self.settings.folds

    def is_heard(self, store: ClipStore, fold: int | None) -> Tensor:
        """Which clips the head of a fold is trained on, ``(clips,)``: of synthetic voices those of the train split."""
        return torch.tensor(
            [
                clip.split is Split.TRAIN if clip.synthetic else fold is None or self.fold(clip) != fold
                for clip in store.clips
            ]
        )

    def held_out(self) -> dict[Kind, list[int]]:
        """The clips that the first stage was not trained on, by kind."""
        return {
            kind: rows
            for kind, store in self.stores.items()
            if kind is not Kind.NOISE
            and (rows := [row for row, clip in enumerate(store.clips) if self._judge(clip) is not None])
        }

    def _judge(self, clip: Clip) -> Model | None:
        """The first stage that was not trained on a clip."""
        if clip.split is Split.VALIDATION:
            return self.model
        return self.other if self.stand_in is not None and self.stand_in.may_judge(clip) else None

    def _samples(self, kind: Kind, row: int) -> np.ndarray:
        store = self.stores[kind]
        start, length = int(store.starts[row]), int(store.lengths[row])
        samples: np.ndarray = store.samples[start : start + length].numpy().astype(np.float32) / 32_768
        return samples

    def _logits_of(self, kind: Kind, rows: Sequence[int]) -> dict[int, Scores]:
        return {row: window_logits(self.model, self._samples(kind, row)) for row in rows}

    def _background_logits(self, hop: int) -> list[Scores]:
        """Of every recording, by a first stage that was not trained on it if there is one."""
        store = self.stores.get(Kind.BACKGROUND)
        return [
            window_logits(self._judge(clip) or self.model, self._samples(Kind.BACKGROUND, row), hop=hop)
            for row, clip in enumerate(store.clips if store is not None else ())
        ]

    def _hours(self, rows: Iterable[int]) -> float:
        store = self.stores.get(Kind.BACKGROUND)
        return sum(int(store.lengths[row]) for row in rows) / 16_000 / 3600 if store is not None else 0.0

    def _rate(self, best: Sequence[Scores], rows: Sequence[int], gate: float) -> Rate | None:
        hours = self._hours(rows)
        if not hours:
            return None
        runs = sum(candidate_runs(best[row], gate) for row in rows)
        return Rate(runs / hours, *poisson_rate(runs, hours), runs, hours)

    def _gate(self, best: Sequence[Scores], rows: Sequence[int], positives: Sequence[float]) -> float:
        """The logit that nearly all positives pass, as far as the range of candidates an hour allows."""
        wanted = float(np.quantile(positives, 1 - _PASSED)) if positives else 0.0
        hours = self._hours(rows)
        if not hours:
            return float(np.clip(wanted, -LARGEST_GATE, LARGEST_GATE))
        most, least = (
            self._gate_of_rate(best, rows, rate * hours)
            for rate in (self.settings.most_candidates, self.settings.least_candidates)
        )
        return round(float(np.clip(wanted, most, least)), 3)

    def _gate_of_rate(self, best: Sequence[Scores], rows: Sequence[int], runs: float) -> float:
        """The lowest gate, in tenths, that begins at most so many looks."""
        gates = np.arange(LARGEST_GATE, -LARGEST_GATE, -0.1)
        passing = LARGEST_GATE
        for gate in gates.tolist():
            if sum(candidate_runs(best[row], gate) for row in rows) > runs:
                break
            passing = gate
        return passing

    def _head(self, fold: int | None, words: Mapping[str, Words], background: Background, gate: float) -> HeadNetwork:
        name = "all speakers" if fold is None else f"the speakers of all folds but {fold + 1}"
        self.advance(f"train the head on {name}")
        heard = {}
        for part, examples in words.items():
            store = self.stores[Kind.POSITIVE if part == FRAGMENT else Kind(part)]
            heard[part] = self.is_heard(store, fold)[examples.rows]
        spoken = self.stores.get(Kind.BACKGROUND)
        used = self.is_heard(spoken, fold) if spoken is not None else torch.zeros(0, dtype=torch.bool)
        return fit_head(
            words,
            heard,
            background,
            used,
            self.settings,
            self.config.adversary,
            least=gate - _BELOW_GATE,
            seed=self.config.seed,
            advance=lambda: None,
        )

    def _evidence(
        self,
        kind: Kind,
        rows: Sequence[int],
        heads: Sequence[HeadNetwork],
        draft: VerifierCard,
        known: Mapping[int, Scores] | None,
        background: Sequence[Scores],
    ) -> list[Evidence]:
        """What both stages say of held-out clips, each by the head of its fold."""
        self.advance(f"both stages hear {len(rows)} held-out {kind.plural.replace('_', ' ')}")
        stages = [SecondStage(draft, Head(head_bytes(head)), self.embedding, self.recogniser) for head in heads]
        readers = [EvidenceReader(stage, self.model.card.window, probe=PROBE) for stage in stages]
        found = []
        for row in rows:
            samples = self._samples(kind, row)
            if kind is Kind.BACKGROUND:
                logits = background[row]
            else:
                logits = known[row] if known is not None else window_logits(self.model, samples)
            found.append(readers[self.fold(self.stores[kind].clips[row])].read(samples, logits))
        return found

    def _describe(self, held_out: Mapping[Kind, Sequence[int]]) -> str:
        counts = {kind: len(held_out.get(kind, ())) for kind in WORD_KINDS}
        speakers = {self.stores[Kind.BACKGROUND].clips[row].speaker for row in held_out.get(Kind.BACKGROUND, ())}
        return (
            f"{counts[Kind.POSITIVE]} positives, {counts[Kind.NEGATIVE]} negatives, "
            f"{counts[Kind.NEAR_NEGATIVE]} near negatives, {self._hours(held_out.get(Kind.BACKGROUND, ())):.2f} h of "
            f"background of {len(speakers)} speakers"
        )

    def _fingerprint(self, held_out: Mapping[Kind, Sequence[int]]) -> str:
        content = [(kind.value, self.stores[kind].fingerprint, list(rows)) for kind, rows in sorted(held_out.items())]
        return hashlib.sha256(repr(content).encode()).hexdigest()[:16]


def train_second_stage(
    config: TrainConfig,
    stage_one: Path,
    clips: Iterable[Clip],
    *,
    cache: Path,
    advance: Callable[[str], None],
    stand_in: StandIn | None = None,
) -> SecondStageResult:
    """Train the second stage of the model ``stage_one``.

    ``clips`` with their splits: the first stage was trained on those of the train split. The head learns from the speakers
    of both the train and the validation split; of those of the validation split, each is scored by a head that was
    trained without them, for the fusion and for thresholds. So is the background of the train split that ``stand_in`` was
    not trained on, with its logits in place of the first stage's. Clips of the test split are not used. Embeddings are
    kept in the folder ``cache``. ``advance`` gets a line for each step. Raises ``DataError`` without positives or
    negatives.
    """
    return SecondStageTraining(config, read_model(stage_one), clips, cache, advance, stand_in).run()
