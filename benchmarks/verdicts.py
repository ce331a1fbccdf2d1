"""Confusion table of verdicts: sets of scams, honest doubles and really traded tokens.

The sets are not part of the repository: `ASSAY_SETS` names their folder, next to the checkout by
default. A set that is not there is left out. Each has a runner that plays its tokens on anvil,
measures what became of ordinary accounts, and runs `assay scan`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

ROOT: Final = Path(__file__).parents[1]
SETS: Final = Path(os.environ.get("ASSAY_SETS") or ROOT.parent / "shared")
VERDICTS: Final = ("safe", "warning", "danger", "not_tested", "refused")


def run_cases(folder: Path) -> Iterator[tuple[str, str]]:
    """Play a set of cases on a copy, and yield the class and verdict of each."""
    with tempfile.TemporaryDirectory() as scratch:
        copy, out = Path(scratch) / folder.name, Path(scratch) / "out.json"
        shutil.copytree(folder, copy)
        run = [
            sys.executable,
            "run_cases.py",
            "--root",
            str(ROOT),
            "--cases",
            ".",
            "--out",
            str(out),
        ]
        subprocess.run(run, cwd=copy, check=True, stdout=subprocess.DEVNULL)
        found: dict[str, Any] = msgspec.json.decode(out.read_bytes())
    for case in found.values():
        yield f"{folder.name}, {case['class']}", str(case["verdict"] or "refused")


def run_blocks(folder: Path) -> Iterator[tuple[str, str]]:
    """Trade the tokens of real blocks, and yield the verdict of each: widely held ones apart."""
    named: dict[str, Any] = msgspec.json.decode((folder / "tokens.json").read_bytes())
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out.json"
        run = [sys.executable, "run_blocks.py", "--root", str(ROOT), "--out", str(out)]
        subprocess.run(run, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        found: dict[str, Any] = msgspec.json.decode(out.read_bytes())
    for key, answer in found.items():
        kind = "widely held" if key.partition("/")[2] in named else "traded"
        summary = answer.get("summary") or {}
        yield f"{folder.name}, {kind}", str(summary.get("verdict") or "refused")


def main() -> None:
    runners = {"redteam": run_cases, "redteam3": run_cases, "mainnet": run_blocks}
    print(f"| set | tokens | {' | '.join(VERDICTS)} |")
    print(f"|---|---|{'---|' * len(VERDICTS)}")
    for name, run in runners.items():
        folder = SETS / name
        if not folder.is_dir():
            print(f"| {name} | not at hand |{' |' * len(VERDICTS)}")
            continue
        rows: dict[str, Counter[str]] = {}
        for kind, verdict in run(folder):
            rows.setdefault(kind, Counter())[verdict] += 1
        for kind, counts in sorted(rows.items()):
            cells = " | ".join(str(counts[verdict]) for verdict in VERDICTS)
            print(f"| {kind} | {counts.total()} | {cells} |")


if __name__ == "__main__":
    main()
