"""The second stage of a model, from clips and a trained first stage to the file of both."""

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from wakeword.base.types import Scores
from wakeword.batch.jobs.job_run import Run
from wakeword.format.card import DEFAULT_HOP
from wakeword.format.verifier_card import Fusion, VerifierCard
from wakeword.model.model import Model, read_model
from wakeword.takes.word_region import Region
from wakeword.verify.embedding import STEP_FRAMES
from wakeword_tools.kinds import WORD_KINDS, Kind, Split
from wakeword_train.data.batches import load_stores
from wakeword_train.data.clips import Clip
from wakeword_train.data.packed import PackedStore
from wakeword_train.data.weights import FRAGMENT, HOUSEHOLD
from wakeword_train.ear import ear_beside
from wakeword_train.model.two_stage import shipped_digests
from wakeword_train.pack.starter import STARTER
from wakeword_train.quick_gate import TRAINED_ASKED, with_quick
from wakeword_train.second_stage.background import LongSpeech, rounded_now_and_then
from wakeword_train.second_stage.evidence import (
    PROBE,
    QUICK_PROBE,
    SNR,
    Candidates,
    Evidence,
    HearingWork,
    HeldOutClip,
    best_of_span,
    in_noise,
    readers_of,
    window_logits,
)
from wakeword_train.second_stage.fusion_fit import NO_GATE, best_fusion
from wakeword_train.second_stage.heads.cross_fit import HeadItem, HeadWork, TrainedHead, seconds_of_head
from wakeword_train.second_stage.heads.fit_heads import Background, HeadTraining
from wakeword_train.second_stage.heads.gru_head import HeadNetwork, PointsAlone, head_bytes, points_alone
from wakeword_train.second_stage.looks.examples import ExampleMaker, WordExamples
from wakeword_train.second_stage.result import HeldOut, SecondStageResult, StandIn
from wakeword_train.spoken_texts import SpokenKeyword
from wakeword_train.training_run import Phase, TrainingRun

_BELOW_GATE = 2.0
"""Logits below the gate down to which windows are mined."""


class SecondStageTraining:
    """Trains the second stage of the model ``stage_one``.

    ``clips`` with their splits: the first stage was trained on the train split. The head learns from the speakers of
    both the train and the validation split. Each clip of the validation split is scored by a head that was trained
    without its speaker, for the fusion and for thresholds. So is the background of the train split that one of
    ``stand_ins`` was not trained on, with its logits in place of the first stage's. Clips of the test split are not used.
    Raises ``DataError`` without positives or negatives.
    """

    def __init__(
        self, run: TrainingRun, stage_one: Path, clips: Iterable[Clip], stand_ins: Sequence[StandIn] = ()
    ) -> None:
        self.training = run
        self.config = config = run.config
        self.stage_one = stage_one
        self.executor = run.executor
        self.events = run.events
        self.settings = config.second_stage
        self.model = read_model(stage_one)
        self.stand_ins = [(stand_in, read_model(stand_in.path)) for stand_in in stand_ins]
        clips = list(clips)
        self.stores = load_stores(clips, Split.TRAIN, Split.VALIDATION)
        self.packed = PackedStore.of(clip for clip in clips if clip.split is not Split.TEST)
        pack = None if self.packed is None else self.packed.pack
        self.ear = ear = ear_beside(pack, config.language)
        heard = None if pack is None or ear.folder is None else ear.pack(STARTER).phonemes
        self.speech = LongSpeech(self.stores.get(Kind.BACKGROUND), self.packed, heard, quick=ear.quick_path)
        spoken = SpokenKeyword.of(config)
        ways = spoken.variants(ear.network.tokens, ear.costs) if self.settings.phonemes else ()
        self.draft = VerifierCard(
            gate=0.0,
            span=self.settings.span,
            embedding_digest=shipped_digests().embedding,
            fusion=Fusion(0.0, 1.0, 1.0, 0.0, 0.0, NO_GATE),
            self_test=0.0,
            phonemes_digest=ear.digest if ways else None,
            phonemes=tuple(way.variant for way in ways),
            phoneme_losses=tuple(way.losses for way in ways),
        )
        if ways and ear.folder is not None and pack is not None:
            self.draft = with_quick(self.draft, ear.quick_path, asked=TRAINED_ASKED)
        self.probe = PROBE if self.draft.quick_digest is None else QUICK_PROBE
        self.maker = ExampleMaker(self.stores, config.augmentation, run.cache, seed=config.seed, events=run.events)

    def run(self) -> SecondStageResult:
        """Train the heads and the fusion and score what was held out."""
        words = self.words()
        self.events.note("the first stage hears the background")
        logits = self._background_logits(DEFAULT_HOP)
        best = [best_of_span(recording, self.settings.span) for recording in logits]
        held_out = self.held_out()
        positives = {
            row: window_logits(self.model, self.stores[Kind.POSITIVE].wave(row), late=self.draft.late)
            for row in held_out.get(Kind.POSITIVE, [])
        }
        spoken = held_out.get(Kind.BACKGROUND, [])
        candidates = Candidates([best[row] for row in spoken], self.speech.hours(spoken))
        gate = candidates.gate([float(logits_of_clip.max()) for logits_of_clip in positives.values()], self.settings)
        by_step = self._background_logits(STEP_FRAMES)
        at_embeddings = [best_of_span(one, self.settings.span, hop=STEP_FRAMES) for one in by_step]
        recordings = self.speech.with_packed(self.maker.recordings())
        background = Background(recordings, at_embeddings, self.model.card.window // STEP_FRAMES - 1)
        trained = self._heads(words, background, gate)
        heads = [head.network(self.settings) for head in trained]
        draft = dataclasses.replace(self.draft, gate=gate)
        self.events.phase(Phase.MEASURING, 0.0)
        heard = self._heard(held_out, heads, draft, positives, logits)
        description = self._describe(held_out)
        fusion = best_fusion(heard, gate, phonemes=bool(self.draft.phonemes), weights=self.ear.people.weights)
        if not fusion.phonemes:
            draft = dataclasses.replace(
                draft, phonemes=(), phoneme_losses=(), phonemes_digest=None, quick_digest=None, quick_gate=0.0
            )
        card = dataclasses.replace(draft, fusion=fusion, candidates_per_hour=candidates.rate(gate), data=description)
        return SecondStageResult(
            head=head_bytes(heads[-1]),
            card=card,
            held_out=heard,
            description=description,
            fingerprint=self._fingerprint(held_out),
            heads=[head.epochs for head in trained],
            fold_heads=[head_bytes(head) for head in heads[:-1]],
            alone=self._alone(heads, recordings.clean),
        )

    def words(self) -> dict[str, WordExamples]:
        """Looks at words, and at household sounds."""
        examples: dict[str, WordExamples] = {}
        for number, kind in enumerate(WORD_KINDS):
            self.events.phase(Phase.LISTENING, number / len(WORD_KINDS))
            if kind in self.stores:
                examples |= self.maker.words(kind, self.settings.looks, recorded=self.config.mix.recorded)
        examples |= self.maker.household_alone()
        return {
            name: dataclasses.replace(words, embeddings=rounded_now_and_then(words.embeddings, self.packed))
            for name, words in examples.items()
        }

    def clips(self, kind: Kind) -> Sequence[Clip]:
        """The clips of a kind, by row."""
        if kind is Kind.BACKGROUND:
            return self.speech.clips
        return self.stores[kind].clips if kind in self.stores else ()

    def fold(self, clip: Clip) -> int:
        """The fold of a speaker, or of a synthetic voice."""
        return int(hashlib.sha1(clip.speaker.encode()).hexdigest(), 16) % self.settings.folds

    def is_heard(self, kind: Kind, fold: int | None) -> Tensor:
        """Which clips the head of a fold is trained on, ``(clips,)``: of synthetic voices only the train split."""
        return torch.tensor(
            [
                clip.split is Split.TRAIN if clip.synthetic else fold is None or self.fold(clip) != fold
                for clip in self.clips(kind)
            ],
            dtype=torch.bool,
        )

    def held_out(self) -> dict[Kind, list[int]]:
        """The clips that the first stage was not trained on, by kind."""
        return {
            kind: rows
            for kind in Kind
            if kind is not Kind.NOISE
            and (rows := [row for row, clip in enumerate(self.clips(kind)) if self.judge(clip) is not None])
        }

    def judge(self, clip: Clip) -> Model | None:
        """The first stage that was not trained on a clip."""
        if clip.split is Split.VALIDATION:
            return self.model
        return next((model for other, model in self.stand_ins if other.may_judge(clip)), None)

    def _background_logits(self, hop: int) -> list[Scores]:
        """The logits of every recording, by a first stage that was not trained on it if there is one."""
        models = [self.judge(clip) or self.model for clip in self.speech.clips]
        return [self.speech.logits(row, model, hop=hop) for row, model in enumerate(models)]

    def _heads(self, words: Mapping[str, WordExamples], background: Background, gate: float) -> list[TrainedHead]:
        """The heads without the speakers of one fold each, and the head of all."""
        folds = (*range(self.settings.folds), None)
        self.events.note(f"train {len(folds)} heads, each but the last without a part of the speakers")
        items = [
            HeadItem(
                fold,
                {part: self.may_hear(part, fold, examples.rows).numpy() for part, examples in words.items()},
                self.is_heard(Kind.BACKGROUND, fold).numpy(),
                seconds_of_head(self.settings),
            )
            for fold in folds
        ]
        work = HeadWork(
            HeadTraining(words, background, self.settings, self.config.adversary, gate - _BELOW_GATE, self.config.seed)
        )
        report = self.training.events.progress_of(Phase.SECOND, len(folds))
        run = Run(work, items)
        trained = [head for _, head in run.rows(self.executor(run.seconds), report)]
        for epoch in trained[-1].epochs:
            if epoch.health is not None:
                self.events.note(epoch.line())
        return trained

    def _alone(self, heads: Sequence[HeadNetwork], embeddings: Sequence[Tensor]) -> PointsAlone | None:
        """The points of the head alone, in all of the background: none of it by a head that was trained on who speaks."""
        of_fold: dict[int, list[Tensor]] = {}
        for clip, of_clip in zip(self.speech.clips, embeddings, strict=True):
            of_fold.setdefault(self.fold(clip), []).append(of_clip)
        return points_alone(heads, of_fold, self.speech.hours(range(len(self.speech))))

    def may_hear(self, part: str, fold: int | None, rows: Tensor) -> Tensor:
        """Which looks of a part the head of a fold is trained on, ``(looks,)``."""
        if part == HOUSEHOLD:
            return torch.ones(len(rows), dtype=torch.bool)
        return self.is_heard(Kind.POSITIVE if part == FRAGMENT else Kind(part), fold)[rows]

    def _heard(
        self,
        held_out: Mapping[Kind, Sequence[int]],
        heads: Sequence[HeadNetwork],
        draft: VerifierCard,
        known: Mapping[int, Scores],
        background: Sequence[Scores],
    ) -> HeldOut:
        """What both stages say of held-out clips, each by the head of its fold; of some of them in noise too."""
        files = [head_bytes(head) for head in heads]
        readers = readers_of(draft, files, self.model.card.window, probe=self.probe)
        items, noisy = self._items(held_out, known)
        self.events.note(
            f"both stages hear {len(items)} held-out clips, and {len(noisy)} of them in noise"
            if noisy
            else f"both stages hear {len(items)} held-out clips"
        )
        report = self.training.events.progress_of(Phase.MEASURING, 2 * (len(items) + len(noisy)))
        run = Run(HearingWork(self.stage_one, draft, files, probe=self.probe), [*items, *noisy])
        rows = [(item, heard) for item, heard in run.rows(self.executor(run.seconds), report)]
        spoken = held_out.get(Kind.BACKGROUND, [])
        self.events.note(f"both stages hear {len(spoken)} held-out recordings of background")
        streams = []
        for number, row in enumerate(spoken):
            self.events.phase(Phase.MEASURING, 0.5 + 0.5 * number / len(spoken))
            streams.append(
                self.speech.evidence(row, readers[self.fold(self.clips(Kind.BACKGROUND)[row])], background[row])
            )
        clean = self._held_out({kind: list(of_kind) for kind, of_kind in held_out.items()}, rows[: len(items)], streams)
        if not noisy:
            return clean
        again = {kind: [item.row for item in noisy if item.kind is kind] for kind in WORD_KINDS}
        return dataclasses.replace(clean, noisy=self._held_out(again, rows[len(items) :], []))

    def _items(
        self, held_out: Mapping[Kind, Sequence[int]], known: Mapping[int, Scores]
    ) -> tuple[list[HeldOutClip], list[HeldOutClip]]:
        """The held-out clips of words, and every second one of them in noise if there are household sounds."""
        items, noisy = [], []
        cutter = self.maker.cutter() if self.maker.household is not None else None
        ratios = np.random.default_rng(self.config.seed)
        for kind in WORD_KINDS:
            for number, row in enumerate(held_out.get(kind, ())):
                samples, reader = self.stores[kind].wave(row), self.fold(self.clips(kind)[row])
                logits = known[row] if kind is Kind.POSITIVE else None
                items.append(HeldOutClip(kind, row, reader, samples, logits))
                if cutter is None or number % 2:
                    continue
                store = self.stores[kind]
                word = Region(int(store.word_starts[row]), int(store.word_ends[row]))
                noise = cutter.noise.draw(1, len(samples))[0].numpy()
                mixed = in_noise(samples, word, noise, ratios.uniform(*SNR))
                noisy.append(HeldOutClip(kind, row, reader, mixed, noisy=True))
        return items, noisy

    def _held_out(
        self,
        rows: Mapping[Kind, Sequence[int]],
        heard: Sequence[tuple[HeldOutClip, Evidence]],
        streams: Sequence[Evidence],
    ) -> HeldOut:
        evidence = {kind: [of_clip for item, of_clip in heard if item.kind is kind] for kind in rows}
        if Kind.BACKGROUND in rows:
            evidence[Kind.BACKGROUND] = list(streams)
        return HeldOut(
            evidence,
            {kind: [self.clips(kind)[row] for row in of_kind] for kind, of_kind in rows.items()},
            self.speech.hours(rows.get(Kind.BACKGROUND, [])),
            [item.samples for item, _ in heard if item.kind is Kind.POSITIVE],
        )

    def _describe(self, held_out: Mapping[Kind, Sequence[int]]) -> str:
        counts = {kind: len(held_out.get(kind, ())) for kind in WORD_KINDS}
        spoken = held_out.get(Kind.BACKGROUND, ())
        speakers = {self.speech.clips[row].speaker for row in spoken}
        return (
            f"{counts[Kind.POSITIVE]} positives, {counts[Kind.NEGATIVE]} negatives, "
            f"{counts[Kind.NEAR_NEGATIVE]} near negatives, {self.speech.hours(spoken):.2f} h of "
            f"background of {len(speakers)} speakers"
        )

    def _fingerprint(self, held_out: Mapping[Kind, Sequence[int]]) -> str:
        prints = {kind: store.fingerprint for kind, store in self.stores.items()}
        if self.packed is not None:
            prints[Kind.BACKGROUND] = self.speech.fingerprint
        content = [(kind.value, prints[kind], list(rows)) for kind, rows in sorted(held_out.items())]
        return hashlib.sha256(repr(content).encode()).hexdigest()[:16]
