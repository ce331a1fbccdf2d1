"""How right the static analysis is on labelled bytecode, and how long one contract takes.

    python -m benchmarks.static CORPUS

CORPUS holds runtime.jsonl (`{"id", "runtime"}`) and labels.jsonl (`{"id", "labels": {field: true |
false | "unsure" | [selectors]}}`). An unsure label is left out; an answer that is unknown costs
recall where the label is true, never precision; selector lists count as exact sets. Speed is that
of one core, in turn with evmole, which extracts selectors, arguments, mutability and storage.
"""

import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import evmole
import msgspec

from analysis.static.examine import examine
from benchmarks._machine import ROOT, describe

DEFAULT_CORPUS = ROOT.parent / "shared" / "corpus"
FEW = 5
"""Fields with fewer true labels are shown, but stay out of the averages."""


class Runtime(msgspec.Struct):
    """One code."""

    id: str
    runtime: str


class Labelled(msgspec.Struct):
    """What a person found in it."""

    id: str
    labels: dict[str, bool | str | list[str]]


class Score:
    """One field over all contracts."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()

    def add(self, label: bool | str | list[str], answer: object) -> None:
        """Count one answer."""
        if label == "unsure":
            return
        if isinstance(label, list):
            given = set(answer) if isinstance(answer, tuple) else set()
            self.count["exact" if given == set(label) else "other"] += 1
        elif answer is None or answer == "pending":
            self.count["unknown"] += 1
            self.count["fn"] += bool(label)
        else:
            self.count[("t" if answer == label else "f") + ("p" if answer else "n")] += 1

    @property
    def precision(self) -> float:
        """Of what was said to be true, what is."""
        return _share(self.count["tp"], self.count["fp"])

    @property
    def recall(self) -> float:
        """Of what is true, what was said to be."""
        return _share(self.count["tp"], self.count["fn"])


def _share(good: int, bad: int) -> float:
    return good / (good + bad) if good + bad else 1.0


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines that say something."""
    return (line for line in path.read_bytes().splitlines() if line.strip())


def print_scores(scores: dict[str, Score]) -> None:
    """A line a field, then the averages."""
    for key, score in sorted(scores.items()):
        count = score.count
        if count["exact"] or count["other"]:
            exact = _share(count["exact"], count["other"])
            print(f"{key:36} exactly equal {count['exact']:4}, else {count['other']}: {exact:.3f}")
        else:
            print(
                f"{key:36} precision {score.precision:.3f} recall {score.recall:.3f} "
                f"of {count['tp'] + count['fn']} true, unknown {count['unknown']}"
            )
    counted = [score for score in scores.values() if score.count["tp"] + score.count["fn"] >= FEW]
    print(
        f"macro average of {len(counted)} fields: "
        f"precision {statistics.fmean(score.precision for score in counted):.3f} "
        f"recall {statistics.fmean(score.recall for score in counted):.3f}"
    )


def main() -> None:
    """Print accuracy, then speed."""
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_CORPUS
    if not (corpus / "labels.jsonl").is_file():
        print(f"no labelled corpus at {corpus.name}: name its folder")
        return
    labelled = {
        row.id: row.labels
        for row in (
            msgspec.json.decode(line, type=Labelled) for line in read_lines(corpus / "labels.jsonl")
        )
    }
    scores: dict[str, Score] = {}
    ours_ms, evmole_ms = [], []
    for line in read_lines(corpus / "runtime.jsonl"):
        row = msgspec.json.decode(line, type=Runtime)
        code = bytes.fromhex(row.runtime.removeprefix("0x"))
        started = time.perf_counter()
        found = examine(code)
        between = time.perf_counter()
        evmole.contract_info(
            code, selectors=True, arguments=True, state_mutability=True, storage=True
        )
        ended = time.perf_counter()
        ours_ms.append(1000 * (between - started))
        evmole_ms.append(1000 * (ended - between))
        for key, label in labelled.get(row.id, {}).items():
            scores.setdefault(key, Score()).add(label, getattr(found.findings, key, None))
    print(describe(f"{len(ours_ms)} labelled tokens"))
    print_scores(scores)
    ours, theirs = statistics.median(ours_ms), statistics.median(evmole_ms)
    print(
        f"one contract, one core: median {ours:.1f} ms, "
        f"p95 {statistics.quantiles(ours_ms, n=20)[-1]:.1f} ms, longest {max(ours_ms):.0f} ms; "
        f"evmole (extraction only) median {theirs:.1f} ms: {ours / theirs:.0f} times as long"
    )


if __name__ == "__main__":
    main()
