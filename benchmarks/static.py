"""Accuracy of static analysis on labelled bytecode, and time per contract.

python -m benchmarks.static CORPUS

CORPUS holds runtime.jsonl (`{"id", "runtime"}`) and labels.jsonl (`{"id", "labels": {field: true |
false | "unsure" | [selectors]}}`). An unsure label is left out; an unknown answer costs recall
where the label is true, never precision; selector lists count as exact sets.

Speed is processor time on the same contracts in one run, so that other work on the machine changes
little of the ratios: ours; evmole, which extracts selectors, arguments, mutability and storage;
heimdall, which decompiles (its Python package gives interface and storage, not source text). Then
the same codes are looked up by a restarted service. Where CORPUS holds unlabelled.jsonl.gz as well,
codes drawn from it are timed, and unknown answers are counted.
"""

import asyncio
import gzip
import importlib
import importlib.util
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from pathlib import Path

import evmole
import msgspec

from analysis.static.analyse_code import analyse_code
from analysis.static.result_cache import StaticResultCache
from analysis.static.worker_pool import process_pool
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings
from sql.engine.store import Store
from tests.harness.measure.machine import ROOT, describe

DEFAULT_CORPUS = ROOT.parent / "shared" / "corpus"
FEW = 5
"""Fields with fewer true labels are shown, but stay out of the averages."""

DECOMPILED = 100
"""Contracts of the corpus that heimdall gets, drawn with SEED."""
SEED = 7
UNLABELLED = 300
"""Codes drawn with SEED where nobody has labelled them."""

DECOMPILE_LIMIT_S = 20
"""For one contract; one that takes longer counts with this."""


class Runtime(msgspec.Struct):
    """One code."""

    runtime: str
    id: str = ""

    @property
    def code(self) -> bytes:
        """The bytes."""
        return bytes.fromhex(self.runtime.removeprefix("0x"))


class Labelled(msgspec.Struct):
    """Labels of one code, given by a person."""

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
        """Return the share of true answers that are right."""
        return _share(self.count["tp"], self.count["fp"])

    @property
    def recall(self) -> float:
        """Return the share of true labels that were found."""
        return _share(self.count["tp"], self.count["fn"])


def _share(good: int, bad: int) -> float:
    return good / (good + bad) if good + bad else 1.0


def read_lines(path: Path) -> Iterator[bytes]:
    """Return the lines that are not empty."""
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


def print_accuracy(rows: list[Runtime], corpus: Path) -> None:
    """Score every label."""
    labelled = {
        row.id: row.labels
        for row in (
            msgspec.json.decode(line, type=Labelled) for line in read_lines(corpus / "labels.jsonl")
        )
    }
    scores: dict[str, Score] = {}
    for row in rows:
        labels = labelled.get(row.id)
        if labels:
            findings = analyse_code(row.code).findings
            for key, label in labels.items():
                scores.setdefault(key, Score()).add(label, getattr(findings, key, None))
    print_scores(scores)


def cpu_ms(work: Callable[[], object]) -> float:
    """Processor time of this process, all threads."""
    started = time.process_time()
    work()
    return 1000 * (time.process_time() - started)


def evmole_ms(code: bytes) -> float:
    """Everything that evmole extracts."""
    return cpu_ms(
        lambda: evmole.contract_info(
            code, selectors=True, arguments=True, state_mutability=True, storage=True
        )
    )


def decompile_ms(code: bytes) -> float:
    """Time one decompilation, without its cache and without looking up names in the network.

    A refused code counts with the time until the refusal.
    """
    heimdall = importlib.import_module("heimdall_py")

    def decompile() -> None:
        with suppress(heimdall.DecompileError, heimdall.DecompileTimeoutError):
            heimdall.decompile_code(
                "0x" + code.hex(),
                skip_resolving=True,
                use_cache=False,
                timeout_secs=DECOMPILE_LIMIT_S,
            )

    return cpu_ms(decompile)


def decompile_all(codes: list[bytes]) -> list[float]:
    """Time all decompilations in a separate process; a crash counts as the limit."""
    found = []
    pool = process_pool(1)
    for code in codes:
        try:
            found.append(pool.submit(decompile_ms, code).result())
        except BrokenProcessPool:
            pool = process_pool(1)
            found.append(1000.0 * DECOMPILE_LIMIT_S)
    pool.shutdown()
    return found


def known_ms(codes: list[bytes]) -> list[float]:
    """Time each code after a restart, from the code to all findings. Wall clock."""

    async def run(*, is_timed: bool) -> list[float]:
        with closing(Store.open(path)) as store:
            static_results = StaticResultCache(ReportStore(store, AnalysisSettings()))
            took = []
            for code in codes:
                started = time.perf_counter()
                await static_results.analyse(code)
                took.append(1000 * (time.perf_counter() - started))
            static_results.close()
        return took if is_timed else []

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "known.duckdb"
        asyncio.run(run(is_timed=False))
        return asyncio.run(run(is_timed=True))


def print_times(name: str, found_ms: list[float]) -> None:
    """One line."""
    print(
        f"{name:44} median {statistics.median(found_ms):8.2f} ms, "
        f"p95 {statistics.quantiles(found_ms, n=20)[-1]:8.2f} ms, longest {max(found_ms):7.0f} ms"
    )


def print_ratio(name: str, theirs_ms: list[float], ours_ms: list[float]) -> None:
    """Print the ratio of their time to ours."""
    ratio = statistics.median(theirs_ms) / statistics.median(ours_ms)
    whole = sum(theirs_ms) / sum(ours_ms)
    print(f"{name:44} {ratio:8.2f} times by the medians, {whole:.2f} by the sums")


def print_speed(codes: list[bytes]) -> None:
    """Side by side on the same contracts."""
    drawn = random.Random(SEED).sample(codes, min(DECOMPILED, len(codes)))
    print(f"speed, processor time of {len(drawn)} contracts drawn with seed {SEED}:")
    ours_ms = [cpu_ms(lambda code=code: analyse_code(code)) for code in drawn]  # type: ignore[misc]
    print_times("assay, code not seen before", ours_ms)
    extracted_ms = [evmole_ms(code) for code in drawn]
    print_times("evmole, extraction only", extracted_ms)
    looked_up_ms = known_ms(drawn)
    print_times("assay, known code after a restart (wall)", looked_up_ms)
    print_ratio("assay takes, of evmole", ours_ms, extracted_ms)
    if importlib.util.find_spec("heimdall_py") is None:
        print("heimdall is published for Linux on x86-64 only: not measured here")
        return
    theirs_ms = decompile_all(drawn)
    print_times(f"heimdall, at most {DECOMPILE_LIMIT_S} s each", theirs_ms)
    print_ratio("heimdall takes, of assay on a new code", theirs_ms, ours_ms)
    print_ratio("heimdall takes, of assay on a known code", theirs_ms, looked_up_ms)


def print_unlabelled(path: Path) -> None:
    """Times and unknown answers of codes that no detector was written by."""
    lines = gzip.decompress(path.read_bytes()).splitlines()
    drawn = random.Random(SEED).sample(lines, min(UNLABELLED, len(lines)))
    took_ms, answers = [], list[object]()
    for line in drawn:
        code = msgspec.json.decode(line, type=Runtime).code
        started = time.process_time()
        findings = analyse_code(code).findings
        took_ms.append(1000 * (time.process_time() - started))
        answers += msgspec.structs.astuple(findings)
    unknown = sum(answer is None or answer == "pending" for answer in answers)
    print_times(f"assay, {len(drawn)} unlabelled codes", took_ms)
    print(f"unknown: {unknown} of their {len(answers)} answers, {unknown / len(answers):.2%}")


def main() -> None:
    """Print accuracy, then speed."""
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_CORPUS
    if not (corpus / "labels.jsonl").is_file():
        print(f"no labelled corpus at {corpus.name}: name its folder")
        return
    rows = [
        msgspec.json.decode(line, type=Runtime) for line in read_lines(corpus / "runtime.jsonl")
    ]
    print(describe(f"{len(rows)} labelled tokens"))
    print_accuracy(rows, corpus)
    print_speed([row.code for row in rows])
    unlabelled = corpus / "unlabelled.jsonl.gz"
    if unlabelled.is_file():
        print_unlabelled(unlabelled)


if __name__ == "__main__":
    main()
