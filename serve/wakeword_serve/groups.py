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
from wakeword_serve.fair_share import ClientBudget

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
            networks = networks_of([address.strip() for address in addresses.split(",")])
        except ConfigError:
            raise ConfigError(f"{_EXPECTED} {text!r}") from None
        groups.setdefault(name.strip(), []).extend(networks)
    for (name, networks), (other, others) in combinations(groups.items(), 2):
        for network in networks:
            if any(network.version == another.version and network.overlaps(another) for another in others):
                raise ConfigError(f"expected each address in one --group, got {network} in {name!r} and in {other!r}")
    return groups


def _now() -> float:
    return asyncio.get_running_loop().time()


class Member:
    """A connection, as its group knows it."""

    def __init__(
        self, group: "Group", share: ClientBudget, answer: Callable[[Found, float], None], is_gone: Callable[[], bool]
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
        """What this connection would say of the word that was heard at that time; ``None`` if it does not listen for it.

        ``heard``: seconds of the event loop's clock, as in all of this module.
        """
        stream = self.stream
        if stream is None or self.is_gone() or _now() - self.clock.newest > _STREAMING:
            return None
        words = [word for word in stream.words if word.phrase == found.word.phrase]
        return Found(words[0], stream.moment(heard - self.clock.start), found.detection) if words else None

    def sound(self, heard: float) -> Array:
        """The second that it heard up to that time, ``(samples,)`` at 16 kHz."""
        assert self.stream is not None
        return self.stream.sound(heard - self.clock.start, COMPARED_SECONDS)

    def score(self, found: Found) -> float:
        """The highest score of the word in the newest second, 0..1."""
        assert self.stream is not None
        return self.stream.peaks[found.word.name]


class _Claim(NamedTuple):
    """That a connection found a word, or would say it if another one found it."""

    heard: float
    member: Member
    found: Found


class _Round:
    """Detections of one word that wait for each other."""

    decided: asyncio.Task[str]
    """Gives the peer that answers, once that is known. It begins with the round."""

    def __init__(self, heard: float) -> None:
        self.heard = heard
        """When the first of them heard it."""
        self.claims: list[_Claim] = []


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
        phrase = found.word.phrase
        claim = _Claim(member.clock.heard_at(found.detection.end), member, found)
        answered = self._answers[phrase]
        if (peer := answered.to(claim.heard, member.peer)) is not None:
            return peer
        rounds = self._rounds[phrase]
        joined = next((waiting for waiting in rounds if is_one_word(claim.heard, waiting.heard)), None)
        if joined is None:
            if not self._others(claim):
                answered.add(claim.heard, member.peer)
                member.answer(found, 0.0)
                return member.peer
            joined = _Round(claim.heard)
            rounds.append(joined)
            joined.decided = asyncio.create_task(self._decide(phrase, joined))
        joined.claims.append(claim)
        return await asyncio.shield(joined.decided)

    def _others(self, claim: _Claim) -> dict[str, _Claim]:
        """What the other connections that listen for the word would say of it, by peer."""
        others = [member for peer, member in self.members.items() if peer != claim.member.peer]
        said = [(member, member.found_as(claim.found, claim.heard)) for member in others]
        return {member.peer: _Claim(claim.heard, member, found) for member, found in said if found is not None}

    async def _decide(self, phrase: str, waiting: _Round) -> str:
        """Let the first to hear it answer, once the others have the sound too."""
        until = _now() + WAIT
        await asyncio.sleep(0)  # the first claim is made after this task
        await self._others_catch_up(waiting.claims[0], until)
        # The same one in whatever order they came; one that has left only if all have.
        finder = min(waiting.claims, key=lambda claim: (claim.member.is_gone(), claim.heard, claim.member.peer))
        first, lead = finder, 0.0
        with suppress(TimeoutError):
            async with asyncio.timeout(until + _COMPARING - _now()):
                first, lead = await self._compared(finder)
        self._hold_back(phrase, waiting, first)
        first.member.answer(first.found, lead)
        return first.member.peer

    async def _others_catch_up(self, claim: _Claim, until: float) -> None:
        """Wait until all that listen for the word have the sound in which it was found, or for that time."""
        while _now() < until and any(
            other.member.clock.heard_at(other.member.clock.position) < claim.heard
            for other in self._others(claim).values()
        ):
            await asyncio.sleep(min(_STEP, until - _now()))

    async def _compared(self, finder: _Claim) -> tuple[_Claim, float]:
        """The claim of who heard the word first, by the sound, and how many seconds before the finder; 0 for the finder."""
        others = self._others(finder)
        scores = {peer: other.member.score(other.found) for peer, other in others.items()}
        loudest = sorted(scores, key=lambda peer: (-scores[peer], peer))[:_MAX_COMPARED]
        sounds = {peer: others[peer].member.sound(finder.heard) for peer in loudest}
        work = partial(first_to_hear, _last(finder.found.detection.audio), sounds)
        first, lead = await finder.member.share.threads.run(work)
        return (finder, 0.0) if first is None or others[first].member.is_gone() else (others[first], lead)

    def _hold_back(self, phrase: str, waiting: _Round, answering: _Claim) -> None:
        """End a round: those that do not answer are held back, also where they find the word again."""
        if not answering.member.is_gone():  # else another one may still find the word
            self._answers[phrase].add(answering.heard, answering.member.peer)
            for claim in waiting.claims:
                if claim.member is not answering.member:
                    self._answers[phrase].to(answering.heard, claim.member.peer)
        self._rounds[phrase].remove(waiting)


def _last(audio: Array) -> Array:
    """The last second of a detection's audio, ``(samples,)`` at 16 kHz, after silence if it is shorter."""
    size = round(COMPARED_SECONDS * SAMPLE_RATE)
    return np.pad(audio[-size:], (max(0, size - len(audio)), 0))


class Groups:
    """The groups of a server."""

    def __init__(self, networks: Mapping[str, Sequence[Network]]) -> None:
        self._groups = [(addresses, Group(name)) for name, addresses in networks.items()]

    def member(
        self, share: ClientBudget, answer: Callable[[Found, float], None], gone: Callable[[], bool]
    ) -> Member | None:
        """A connection as a member of the group of its address; ``None`` if it has none."""
        for networks, group in self._groups:
            if is_allowed(share.address, networks):
                return Member(group, share, answer, gone)
        return None
