"""Who asks for this machine, and who for a web site that was let lead here."""

import pytest

from wakeword import ConfigError
from wakeword.browser.own_host import host_names_of, is_own_host


def test_only_names_that_no_web_site_can_have_mean_this_machine() -> None:
    names = host_names_of(["Wake.Example.", "a_b.example"])
    own = (
        *(
            "127.0.0.1",
            "192.168.1.9:10401",
            "[::1]:10401",
            "[fd00::1]",
            "localhost",
            "LOCALHOST:1",
            "raspberrypi:10401",
        ),
        *("pi.local", "pi.local.:10401", "pi.home.arpa", "pi.lan", "a.b.internal", "wake.example:10401", "a_b.example"),
    )
    others = (
        *("evil.example", "evil.example:10401", "127.0.0.1.evil.example", "xlocal.example", "local.evil.example"),
        *(
            "",
            ":10401",
            "[::1",
            ".local",
            "a..local",
            "sub.wake.example",
            "evil.example@pi.local",
            "evil.example/.local",
        ),
        *("evil.example#.local", "evil.example .local", "127.0.0.1,evil.example"),
    )
    assert [host for host in own if not is_own_host(host, names)] == []
    assert [host for host in others if is_own_host(host, names)] == []
    assert not is_own_host("wake.example")
    for text in ("", "a:1", "http://a", "a b", "*.example", "[::1]"):
        with pytest.raises(ConfigError, match="expected --http-name"):
            host_names_of([text])
