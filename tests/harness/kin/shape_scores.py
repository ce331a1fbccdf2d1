"""Precision and recall of kin by code, over the compiled cases.

Two builds of one case by different compilers are kin. Two cases are not, though they share most of
their code: each is the same small ledger with one difference, as close as strangers come. `python
-m tests.harness.kin.shape_scores` prints the table by threshold.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations

import msgspec

from analysis.static.analyse_code import analyse_code
from core.evm.code_shape import CodeShape, bands_of, likeness
from sql.tokens.kin import LEAST_LIKENESS
from tests.harness.cases.cases import load_cases
from tests.harness.cases.cases_compile import Build, builds_of, runtime_of

THRESHOLDS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9)


class ShapedCode(msgspec.Struct, frozen=True, kw_only=True):
    """One case by one compiler."""

    case: str
    build: str
    family: str
    """Family of compilers that translate alike."""
    shape: CodeShape


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs at one threshold."""

    kin: int
    found: int
    """Pairs found among those."""
    said: int
    """Pairs reported as kin that are not."""
    strangers: int

    @property
    def recall(self) -> float:
        """Share of the pairs of kin that are found."""
        return self.found / self.kin

    @property
    def precision(self) -> float:
        """Return the share of reported pairs that are kin."""
        return self.found / (self.found + self.said)


def shape_all(*, one_in: int = 1) -> list[ShapedCode]:
    """Return the shapes of every n-th case by all its compilers."""
    sampled = [
        (case.name, build, runtime_of(case, build))
        for case in load_cases()[::one_in]
        for build in builds_of(case)
    ]
    with ProcessPoolExecutor(2) as pool:
        shapes = list(pool.map(_shape_of, [code for _, _, code in sampled], chunksize=8))
    return [
        ShapedCode(case=name, build=build.name, family=family_of(build), shape=shape)
        for (name, build, _), shape in zip(sampled, shapes, strict=True)
        if shape is not None
    ]


def _shape_of(code: bytes) -> CodeShape | None:
    return analyse_code(code).shape


def family_of(build: Build) -> str:
    """Return the key that two builds share if their codes are much alike."""
    if build.suffix != ".sol":
        return build.name
    era = "0.8" if build.version >= (0, 8) else "before 0.8"
    return f"{era}{'-ir' if build.is_new else ''}"


def score(codes: Sequence[ShapedCode], least: float, *, across: bool) -> Score:
    """Score all pairs: of kin those of one family of compilers, or `across` those of two."""
    kin = found = said = strangers = 0
    for one, other in pairs(codes, across=across):
        is_said = likeness(one.shape.sketch, other.shape.sketch) >= least
        if one.case == other.case:
            kin += 1
            found += is_said
        else:
            strangers += 1
            said += is_said
    return Score(kin=kin, found=found, said=said, strangers=strangers)


def pairs(codes: Sequence[ShapedCode], *, across: bool) -> Iterator[tuple[ShapedCode, ShapedCode]]:
    """Yield the pairs of builds of a case, and as many pairs of strangers as there are by one
    build."""
    by_case, by_build = (
        defaultdict[str, list[ShapedCode]](list),
        defaultdict[str, list[ShapedCode]](list),
    )
    for code in codes:
        by_case[code.case].append(code)
        by_build[code.build].append(code)
    for its in by_case.values():
        for one, other in combinations(its, 2):
            if (one.family != other.family) is across:
                yield one, other
    for its in by_build.values():
        yield from combinations(its, 2)


def met(codes: Sequence[ShapedCode]) -> tuple[int, int]:
    """Count the kin that are similar enough, and those of them with a band in common."""
    close = [
        (one, other)
        for one, other in pairs(codes, across=False)
        if one.case == other.case
        and likeness(one.shape.sketch, other.shape.sketch) >= LEAST_LIKENESS
    ]
    shared = sum(
        not set(bands_of(one.shape.sketch)).isdisjoint(bands_of(other.shape.sketch))
        for one, other in close
    )
    return len(close), shared


def main() -> None:
    """Print precision and recall by threshold."""
    codes = shape_all()
    sys.stdout.write(f"{len(codes)} codes of {len({code.case for code in codes})} cases\n")
    for across in (False, True):
        sys.stdout.write(f"kin by compilers of {'two eras' if across else 'one era'}:\n")
        for least in THRESHOLDS:
            got = score(codes, least, across=across)
            sys.stdout.write(
                f"  at {least:.2f}: precision {got.precision:.3f}, recall {got.recall:.3f}; "
                f"{got.said} of {got.strangers} pairs of strangers\n"
            )
    close, shared = met(codes)
    sys.stdout.write(f"of {close} pairs of kin that are similar enough, {shared} meet in a band\n")


if __name__ == "__main__":
    main()
