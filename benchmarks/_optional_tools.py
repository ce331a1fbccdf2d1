"""Tools that a benchmark is held against: installed by it into a cache of its own, never by us."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec

Command = tuple[str | Path, ...]

_PATIENCE_S = 300.0
_SHOWN = 200
"""Last characters of why an installation failed."""


class PythonTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool in a virtual environment."""

    name: str
    packages: tuple[str, ...]
    """Pinned. Their dependencies come along."""
    overrides: tuple[str, ...] = ()
    """Pinned, put over what the dependencies ask for."""
    check: tuple[str, ...]
    """Words after `python` or a script's name that succeed where the tool works."""

    @property
    def folder(self) -> Path:
        """Where it is, or will be."""
        home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        return Path(home) / "assay-benchmarks" / f"{self.packages[0].replace('==', '-')}"

    def binary(self, name: str) -> Path:
        """A program of its environment."""
        return self.folder / "bin" / name

    def install(self) -> str | None:
        """Install it unless it is. None: it works. Else why it does not, in words."""
        if not self._is_working():
            pip: Command = (self.binary("pip"), "install", "--quiet", "--no-input")
            steps: list[Command] = [
                (sys.executable, "-m", "venv", self.folder),
                (*pip, *self.packages),
            ]
            if self.overrides:
                steps.append((*pip, "--no-deps", *self.overrides))
            for step in steps:
                failure = _run(step)
                if failure is not None:
                    return f"{' '.join(self.packages)} could not be installed: {failure}"
        return None if self._is_working() else f"{' '.join(self.packages)} does not run here"

    def _is_working(self) -> bool:
        first, *rest = self.check
        return self.binary(first).exists() and _run((self.binary(first), *rest)) is None


CRYO = PythonTool(name="cryo", packages=("cryo==0.3.2",), check=("python", "-c", "import cryo"))

ETHEREUM_ETL = PythonTool(
    name="ethereum-etl",
    packages=("ethereum-etl==2.4.2",),
    # The parsimonious that its web3 asks for does not run on Python 3.11.
    overrides=("parsimonious==0.10.0", "regex==2024.11.6"),
    check=("ethereumetl", "export_token_transfers", "--help"),
)


def _run(command: Command) -> str | None:
    """None: it succeeded. Else the last words of why not."""
    try:
        subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_PATIENCE_S, cwd="/"
        )
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if "WARNING" not in line]
        return " ".join(lines)[-_SHOWN:] or f"exit code {error.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    return None
