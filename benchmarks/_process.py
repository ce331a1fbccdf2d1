"""What another process has used: read from /proc, so on Linux only."""

import os
from pathlib import Path

_PARENT, _USER, _SYSTEM = 1, 11, 12
"""Fields of /proc/<pid>/stat, counted after the name in brackets."""


class Process:
    """A process by its id."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._path = Path(f"/proc/{pid}")

    def memory_mb(self) -> float:
        """Resident memory now."""
        return self._status_mb("VmRSS")

    def peak_mb(self) -> float:
        """The most resident memory there was since the start."""
        return self._status_mb("VmHWM")

    def cpu_s(self) -> float:
        """Processor time it has used."""
        fields = _stat(self._path)
        return (int(fields[_USER]) + int(fields[_SYSTEM])) / os.sysconf("SC_CLK_TCK")

    def family(self) -> "list[Process]":
        """It and all that came from it and still live."""
        parents: dict[int, list[int]] = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                parents.setdefault(int(_stat(path)[_PARENT]), []).append(int(path.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
        found = [self.pid]
        for pid in found:
            found += parents.get(pid, ())
        return [Process(pid) for pid in found]

    def name(self) -> str:
        """Of its program."""
        return (self._path / "comm").read_text(encoding="utf-8").strip()

    def _status_mb(self, field: str) -> float:
        lines = (self._path / "status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def _stat(path: Path) -> list[str]:
    return (path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
