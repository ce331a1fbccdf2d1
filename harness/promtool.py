"""Prometheus's own checker, from Debian's package; unpacked, not installed."""

import shutil
import subprocess
from pathlib import Path

_CACHE = Path(__file__).parents[1] / ".cache" / "prometheus"
_WITHIN_S = 120


def find_promtool() -> Path | None:
    """Return promtool's path: the machine's own, or one that is fetched now.

    None: the machine has none, and no Debian package can be fetched.
    """
    found = shutil.which("promtool")
    if found is not None:
        return Path(found)
    unpacked = _CACHE / "usr" / "bin" / "promtool"
    if not unpacked.exists() and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        _CACHE.mkdir(parents=True, exist_ok=True)
        if not _fetch():
            _run("apt-get", "update", "-qq")
            _fetch()
    return unpacked if unpacked.exists() else None


def _fetch() -> bool:
    if not _run("apt-get", "download", "-qq", "prometheus"):
        return False
    package = next(_CACHE.glob("prometheus_*.deb"))
    is_unpacked = _run("dpkg-deb", "-x", package.name, ".")
    package.unlink()
    return is_unpacked


def _run(*command: str) -> bool:
    done = subprocess.run(command, cwd=_CACHE, capture_output=True, check=False, timeout=_WITHIN_S)
    return done.returncode == 0
