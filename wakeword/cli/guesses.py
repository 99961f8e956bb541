"""What people type for the commands and their options, and a line that runs for each command."""

from typing import Final

EXAMPLES: Final = {
    "listen": "wakeword listen --keyword alexa",
    "scan": "wakeword scan --keyword alexa talk.wav",
    "models": "wakeword models install zorvella.onnx",
    "info": "wakeword info alexa",
    "check": 'wakeword check "hey zorvella"',
    "train": 'wakeword train "hey zorvella"',
    "record": 'wakeword record "hey zorvella" --out takes',
    "review": "wakeword review saved",
    "voices": "wakeword voices install kokoro",
    "synth": 'wakeword synth "hey zorvella" --out clips',
    "calibrate": "wakeword calibrate --model zorvella --positives takes --negatives no",
    "evaluate": "wakeword evaluate --keyword alexa --positives takes --negatives no",
    "compare": "wakeword compare alexa better.onnx --positives takes --negatives no",
    "serve": "wakeword serve --keyword alexa --uri tcp://0.0.0.0:10400",
    "improve": "wakeword improve my-marvin --dry-run",
    "web": "wakeword web --port 9000",
    "devices": "wakeword devices",
    "doctor": "wakeword doctor --seconds 10",
    "bench": "wakeword bench --keyword alexa",
    "export": "wakeword export alexa --to openwakeword alexa-files",
}
"""Command -> a line that runs, at the end of its help."""

COMMANDS_MEANT: Final = {
    **dict.fromkeys(("run", "start", "detect", "spot"), "listen"),
    **dict.fromkeys(("find", "search", "file", "process"), "scan"),
    **dict.fromkeys(("list", "ls", "words", "keywords"), "models"),
    **dict.fromkeys(("show", "card"), "info"),
    **dict.fromkeys(("install", "add", "download"), "models install"),
    **dict.fromkeys(("uninstall", "remove", "rm", "delete"), "models remove"),
    **dict.fromkeys(("create", "make", "new"), "train"),
    **dict.fromkeys(("enrol", "enroll", "takes"), "record"),
    **dict.fromkeys(("tts", "speak", "generate"), "synth"),
    **dict.fromkeys(("tune", "threshold"), "calibrate"),
    **dict.fromkeys(("test", "mic", "microphone"), "doctor"),
    **dict.fromkeys(("mics", "microphones", "device"), "devices"),
    **dict.fromkeys(("server", "wyoming"), "serve"),
    **dict.fromkeys(("page", "browser"), "web"),
    **dict.fromkeys(("version", "-v", "-V"), "--version"),
}
"""What people type -> the command."""
ACTIONS: Final = {
    **dict.fromkeys(("add", "get", "download", "fetch"), "install"),
    **dict.fromkeys(("uninstall", "delete", "rm"), "remove"),
    **dict.fromkeys(("ls", "show"), "list"),
}
"""The same for what ``models`` and ``voices`` can do."""
OPTIONS_MEANT: Final = (
    "--keyword --model --keywords --models --word --words --wakeword --wake-word --phrase --name -k -w -m",
    "--input --recording --positives --file --wav --audio --recordings -i -f",
    "--device --mic --microphone --input-device -d",
    "--out --save --output --output-dir --dir --folder -o",
    "--exec --command --cmd --run --on-detection",
    "--threshold --sensitivity --score -t",
    "--count --most --turns --number --takes --times --repeat -n",
    "--jobs --workers --processes --cores -j",
    "--out --report --html",
)
"""Options of one meaning: the first one that a command has is meant."""
WHOLE_OPTIONS: Final = {
    ("scan", "--json"): "--format json",
    ("scan", "--csv"): "--format csv",
    ("scan", "--srt"): "--format srt",
    ("scan", "--recursive"): "",
    ("scan", "-r"): "",
    ("scan", "--folder"): "",
    ("scan", "--dir"): "",
}
"""What takes the place of an option without a value."""
