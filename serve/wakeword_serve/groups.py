"""Groups of connections that give one answer: who belongs to them, and how they wait for each other."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError
from wakeword.base.types import Array
from wakeword_serve.addresses import Network, is_allowed, networks_of
from wakeword_serve.arbitration import COMPARED_SECONDS, ArrivalClock, WordAnswers, first_to_hear, is_one_word
from wakeword_serve.client_stream import Found, ListeningStream
from wakeword_serve.fair_share import Share

WAIT = 0.08
"""Seconds that a word waits for the audio of other connections at most."""
_COMPARING = 0.04
"""Seconds that the comparison has at least; after these the one that found the word answers."""
_STEP = 0.01
_STREAMING = 1.0
"""Seconds without audio after which a connection is no longer waited for."""
_MAX_COMPARED = 15
"""Connections that are compared, those with the highest scores: each takes 2 ms of a thread."""

_EXPECTED = "expected --group NAME=ADDRESS[,ADDRESS...], for instance home=192.168.1.20,192.168.1.21, got"


def groups_of(texts: Sequence[str]) -> dict[str, list[Network]]:
    """Read the values of ``--group``. Raises ``ConfigError``, also for an address in two groups."""
    groups: dict[str, list[Network]] = {}
    for text in texts:
        name, _, addresses = text.partition("=")
        if not name.strip():
            raise ConfigError(f"{_EXPECTED} {text!r}")
        try:
            networks = networks_of([one.strip() for one in addresses.split(",")])
        except ConfigError:
            raise ConfigError(f"{_EXPECTED} {text!r}") from None
        groups.setdefault(name.strip(), []).extend(networks)
    for (name, some), (other, more) in combinations(groups.items(), 2):
        for one in some:
            if any(one.version == another.version and one.overlaps(another) for another in more):
                raise ConfigError(f"expected each address in one --group, got {one} in {name!r} and in {other!r}")
    return groups


def _now() -> float:
    return asyncio.get_running_loop().time()


class Member:
    """A connection, as its group knows it."""

    def __init__(
        self, group: "Group", share: Share, answer: Callable[[Found, float], None], is_gone: Callable[[], bool]
    ) -> None:
        """``answer``: sends a detection, and is told by how many seconds this connection was the first to hear."""
        self.group, self.share, self.answer, self.is_gone = group, share, answer, is_gone
        self.peer = share.peer
        self.stream: ListeningStream | None = None
        self.clock = ArrivalClock()

    def arrived(self, now: float, stream: ListeningStream, seconds: float, *, waited: bool = False) -> None:
        """At ``now`` so much more audio came, which the stream gets next; ``waited``: see ``ArrivalClock``."""
        if stream is not self.stream:
            self.stream, self.clock = stream, ArrivalClock()
        self.clock.arrived(now, stream.seconds + seconds, waited=waited)
        self.group.members[self.peer] = self

    def leave(self) -> None:
        """The stream, or the connection, has ended."""
        self.stream = None
        self.group.members.pop(self.peer, None)

    def found_as(self, found: Found, heard: float) -> Found | None:
        """What this connection would say of the word that was heard at that time; ``None`` if it does not listen for it."""
        stream = self.stream
        if stream is None or self.is_gone() or _now() - self.clock.newest > _STREAMING:
            return None
        words = [word for word in stream.words if word.phrase == found.word.phrase]
        return Found(words[0], stream.moment(heard - self.clock.start), found.detection) if words else None

    def sound(self, heard: float) -> Array:
        """What it heard up to that time."""
        assert self.stream is not None
        return self.stream.sound(heard - self.clock.start, COMPARED_SECONDS)

    def score(self, found: Found) -> float:
        """The highest score of the word in the newest second."""
        assert self.stream is not None
        return max(score for name, score in self.stream.peaks.items() if name == found.word.name)


class _Claim(NamedTuple):
    heard: float
    member: Member
    found: Found


class _Round:
    """Detections of one word that wait for each other."""

    def __init__(self, heard: float) -> None:
        self.heard = heard
        self.claims: list[_Claim] = []
        self.decided: asyncio.Task[str] | None = None


class Group:
    """Connections that give one answer to a word. For one event loop."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.members: dict[str, Member] = {}
        """Those that stream audio, by peer."""
        self._rounds: dict[str, list[_Round]] = defaultdict(list)
        self._answers: dict[str, WordAnswers] = defaultdict(WordAnswers)

    async def answers(self, member: Member, found: Found) -> str:
        """Who answers to a word that ``member`` has found. If that is another one, it has then done so.

        Returns at once if no other connection of the group streams and listens for the word, else after 120 ms at most.
        """
        phrase, heard = found.word.phrase, member.clock.heard_at(found.detection.end)
        answered = self._answers[phrase]
        if (peer := answered.to(heard, member.peer)) is not None:
            return peer
        rounds = self._rounds[phrase]
        joined = next((one for one in rounds if is_one_word(heard, one.heard)), None)
        if joined is None:
            if not self._others({member.peer}, found, heard):
                answered.add(heard, member.peer)
                member.answer(found, 0.0)
                return member.peer
            joined = _Round(heard)
            rounds.append(joined)
            joined.decided = asyncio.create_task(self._decide(phrase, joined))
        joined.claims.append(_Claim(heard, member, found))
        assert joined.decided is not None
        return await asyncio.shield(joined.decided)

    def _others(self, peers: set[str], found: Found, heard: float) -> dict[str, tuple[Member, Found]]:
        found_as = {peer: (one, one.found_as(found, heard)) for peer, one in self.members.items() if peer not in peers}
        return {peer: (one, its) for peer, (one, its) in found_as.items() if its is not None}

    async def _decide(self, phrase: str, waiting: _Round) -> str:
        """Let the first to hear it answer, once the others have the sound too."""
        until = _now() + WAIT
        await asyncio.sleep(0)  # the first claim is made after this task
        found, finder = waiting.claims[0].found, waiting.claims[0].member.peer
        while _now() < until and any(
            one.clock.heard_at(one.clock.position) < waiting.heard
            for one, _ in self._others({finder}, found, waiting.heard).values()
        ):
            await asyncio.sleep(min(_STEP, until - _now()))
        # The same one in whatever order they came; one that has left only if all have.
        claim = min(waiting.claims, key=lambda one: (one.member.is_gone(), one.heard, one.member.peer))
        answering, its, lead = claim.member, claim.found, 0.0
        others = self._others({claim.member.peer}, claim.found, claim.heard)
        with suppress(TimeoutError):
            async with asyncio.timeout(until + _COMPARING - _now()):
                best, earlier = await self._compared(claim, others)
            if best is not None and not others[best][0].is_gone():
                (answering, its), lead = others[best], earlier
        if not answering.is_gone():  # else another one may still find the word
            self._answers[phrase].add(claim.heard, answering.peer)
            for one in waiting.claims:
                if one.member is not answering:
                    self._answers[phrase].to(claim.heard, one.member.peer)
        self._rounds[phrase].remove(waiting)
        answering.answer(its, lead)
        return answering.peer

    async def _compared(self, claim: _Claim, others: Mapping[str, tuple[Member, Found]]) -> tuple[str | None, float]:
        scores = {peer: one.score(its) for peer, (one, its) in others.items()}
        loudest = sorted(scores, key=lambda peer: (-scores[peer], peer))[:_MAX_COMPARED]
        sounds = {peer: others[peer][0].sound(claim.heard) for peer in loudest}
        work = partial(first_to_hear, _last(claim.found.detection.audio), sounds)
        return await claim.member.share.threads.run(work)


def _last(audio: Array) -> Array:
    """The end of a detection's audio, as long as what it is compared with."""
    size = round(COMPARED_SECONDS * SAMPLE_RATE)
    return np.pad(audio[-size:], (max(0, size - len(audio)), 0))


class Groups:
    """The groups of a server."""

    def __init__(self, networks: Mapping[str, Sequence[Network]] | None = None) -> None:
        self._groups = [(its, Group(name)) for name, its in (networks or {}).items()]

    def member(
        self, share: Share, answer: Callable[[Found, float], None], is_gone: Callable[[], bool]
    ) -> Member | None:
        """A connection as a member of the group of its address; ``None`` if it has none."""
        for networks, group in self._groups:
            if is_allowed(share.address, networks):
                return Member(group, share, answer, is_gone)
        return None
