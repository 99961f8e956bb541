"""A certificate for servers of tests."""

import shutil
import subprocess
from pathlib import Path

import pytest


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl")
    paths = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-out", paths[0], "-keyout", paths[1]),
        ],
        check=True,
        capture_output=True,
    )
    return paths
