"""Python without some packages."""

import subprocess
import sys


class SeparateProcess:
    """Runs Python in a separate process, as if the ``missing`` packages were not installed."""

    def __init__(self, *missing: str) -> None:
        self.preamble = f"""if True:
            import sys
            sys.path = {sys.path}
            from importlib.machinery import PathFinder

            class Without(PathFinder):
                @classmethod
                def find_spec(cls, name, path=None, target=None):
                    return None if name.split(".")[0] in {missing} else super().find_spec(name, path, target)

            sys.meta_path = [Without if finder is PathFinder else finder for finder in sys.meta_path]
        """

    def run(self, program: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-P", "-c", self.preamble + "\n" + program]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)
