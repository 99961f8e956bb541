"""``wakeword listen``: report the wake words as they are spoken."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword.audio.pcm import MAX_CHANNELS, MAX_SAMPLE_RATE, MIN_SAMPLE_RATE
from wakeword.cli.formats import FormatName
from wakeword.cli.listen.listen_session import run_session
from wakeword.cli.listen.reactions import ReactionSettings
from wakeword.cli.listen.source import SourceSettings
from wakeword.cli.options import (
    DetectorSettings,
    DeviceOption,
    KeywordOption,
    ModelOption,
    PointOption,
    ThresholdOption,
    VerifyOption,
)
from wakeword.cli.ranges import finite

_ReconnectOption = Annotated[
    bool, typer.Option("--reconnect/--no-reconnect", help="Wait for a device that goes away, or exit with status 1.")
]
_InputOption = Annotated[
    str | None,
    typer.Option("--input", metavar="FILE", help="Read a file instead; - reads raw 16-bit PCM from stdin."),
]
_RateOption = Annotated[
    int | None,
    typer.Option(
        "--rate",
        min=MIN_SAMPLE_RATE,
        max=MAX_SAMPLE_RATE,
        help="Samples per second of the PCM from stdin. Default: 16000.",
    ),
]
_ChannelsOption = Annotated[
    int | None,
    typer.Option("--channels", min=1, max=MAX_CHANNELS, help="Channels of the PCM from stdin. Default: 1."),
]
_ChannelOption = Annotated[
    int | None,
    typer.Option(
        "--channel", metavar="N", min=0, max=MAX_CHANNELS - 1, help="Use this channel, from 0. Default: the mean."
    ),
]
MinGapOption = Annotated[
    float,
    typer.Option(
        "--min-gap",
        metavar="SECONDS",
        min=0,
        max=86_400,
        callback=finite,
        help="Report a keyword again only after this time.",
    ),
]
_JsonOption = Annotated[bool, typer.Option("--json", help="Print each detection as a line of JSON.")]
_ExecOption = Annotated[
    str | None, typer.Option("--exec", metavar="CMD", help="Run this at each detection, without a shell.")
]
_ExecTimeoutOption = Annotated[
    float,
    typer.Option(
        "--exec-timeout",
        metavar="SECONDS",
        min=0,
        max=604_800,
        callback=finite,
        help="End a program after this time; 0: never.",
    ),
]
SaveOption = Annotated[
    Path | None, typer.Option("--save", metavar="DIR", help="Save each detection's audio and data here.")
]
_NearMissesOption = Annotated[
    bool,
    typer.Option("--save-near-misses", help="Save what nearly fired too: half the threshold or more, and not fired."),
]
SaveLimitOption = Annotated[
    float,
    typer.Option(
        "--save-limit",
        metavar="MB",
        min=1,
        max=1e9,
        callback=finite,
        help="Delete the oldest saved detections beyond this.",
    ),
]
PreRollOption = Annotated[
    float,
    typer.Option(
        "--pre-roll", metavar="SECONDS", min=0, max=60, callback=finite, help="Save this much from before the word."
    ),
]
_ProviderOption = Annotated[str, typer.Option("--provider", metavar="cpu|cuda", help="Where the model runs.")]


def listen(
    keyword: KeywordOption = None,
    model: ModelOption = None,
    device: DeviceOption = None,
    reconnect: _ReconnectOption = True,
    file: _InputOption = None,
    rate: _RateOption = None,
    channels: _ChannelsOption = None,
    channel: _ChannelOption = None,
    threshold: ThresholdOption = None,
    point: PointOption = None,
    verify: VerifyOption = True,
    min_gap: MinGapOption = 1.0,
    as_json: _JsonOption = False,
    command: _ExecOption = None,
    exec_timeout: _ExecTimeoutOption = 60.0,
    save: SaveOption = None,
    save_near_misses: _NearMissesOption = False,
    save_limit: SaveLimitOption = 1_000.0,
    pre_roll: PreRollOption = 0.5,
    provider: _ProviderOption = "cpu",
) -> None:
    """Report the wake words as they are spoken, until Ctrl-C.

    One line on stdout for each detection, times in seconds since the start. A program of --exec finds
    WAKEWORD_KEYWORD, WAKEWORD_SCORE, WAKEWORD_START, WAKEWORD_END and, with --save, WAKEWORD_AUDIO in its environment;
    programs that still run when listening ends are not stopped. Ctrl-C, SIGTERM and the end of the input or of stdout's
    reader end the command with status 0.
    """
    run_session(
        DetectorSettings(keyword, model, threshold, point, channel, min_gap, pre_roll, provider, verify),
        SourceSettings(device, reconnect, file, rate, channels, channel),
        ReactionSettings(command, exec_timeout, save, save_limit, pre_roll, save_near_misses),
        FormatName.JSON if as_json else FormatName.TEXT,
    )
