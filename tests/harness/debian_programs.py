"""Programs of Debian packages that tests run: the machine's own, else unpacked, not installed."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec

_CACHE = Path(__file__).parents[2] / ".cache" / "debian"
_WITHIN_S = 120
_SYSTEM = "/usr/local/sbin:/usr/sbin:/sbin"
"""Folders of daemons, which are not on every PATH."""


class DebianProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program that can be run."""

    path: Path
    env: Mapping[str, str]
    """Variables of its environment beyond ours."""


def find_promtool() -> DebianProgram | None:
    """Return Prometheus's own checker. None: it cannot be had here."""
    return _find("promtool", "prometheus")


def find_haproxy() -> DebianProgram | None:
    """Return the balancer. None: it cannot be had here."""
    return _find(
        "haproxy", "haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"
    )


def _find(name: str, *packages: str) -> DebianProgram | None:
    """Return a program of the first of these packages; the others have its libraries.

    None: the machine has none, and no Debian package can be fetched.
    """
    found = shutil.which(name) or shutil.which(name, path=_SYSTEM)
    if found is not None:
        return DebianProgram(path=Path(found), env={})
    folder = _CACHE / packages[0]
    is_unpacked = (folder / "complete").exists()
    if not is_unpacked and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        is_unpacked = _unpack(packages, folder)
    unpacked = next(iter((folder / "usr").glob(f"*bin/{name}")), None)
    if not is_unpacked or unpacked is None:
        return None
    libraries = os.pathsep.join(str(path) for path in (folder / "usr" / "lib").glob("*-linux-*"))
    return DebianProgram(path=unpacked, env={"LD_LIBRARY_PATH": libraries})


def _unpack(packages: tuple[str, ...], folder: Path) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    if not _fetch(packages, folder):
        _run(folder, "apt-get", "update", "-qq")
        if not _fetch(packages, folder):
            return False
    for package in folder.glob("*.deb"):
        if not _run(folder, "dpkg-deb", "-x", package.name, "."):
            return False
        package.unlink()
    (folder / "complete").touch()
    return True


def _fetch(packages: tuple[str, ...], folder: Path) -> bool:
    return _run(folder, "apt-get", "download", "-qq", *packages)


def _run(folder: Path, *command: str) -> bool:
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=_WITHIN_S)
    return done.returncode == 0
