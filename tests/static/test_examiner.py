"""Protects the look-up of codes: one analysis a code, and no answer that is another code's."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from analysis.static import result_cache as module
from analysis.static import worker_pool
from analysis.static.analyse_code import CodeAnalysis, analyse_code, unanalysed
from analysis.static.engine_version import analysis_version
from analysis.static.evm.disassembly import hash_of, strip_metadata
from analysis.static.result_cache import StaticResultCache
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings
from core.errors import StoreError
from core.evm.primitives import Hash32
from sql.engine.store import Store
from sql.tokens.codes import read_found, write_found
from tests.harness.static.assembler import assemble


class Counted:
    """The real examination, with a count of how often it was done."""

    def __init__(self) -> None:
        self.codes: list[bytes] = []

    def __call__(self, code: bytes) -> CodeAnalysis:
        self.codes.append(code)
        return analyse_code(code)


PADDING = "raw:" + "fe" * 300
"""Behind the code: large enough to be kept."""
CALLED = assemble(f"0 0 0 0 0 0x1234 GAS CALL STOP {PADDING}")
DESTROYED = assemble(f"0x1234 SELFDESTRUCT {PADDING}")
METADATA = "a264697066735822{:068x}64736f6c63430008130033"


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    monkeypatch.setattr(module, "analyse_code", counted)
    return counted


@pytest.fixture
def store() -> Store:
    return Store.open(Path(":memory:"))


@pytest.fixture
async def static_results(store: Store) -> AsyncIterator[StaticResultCache]:
    made = StaticResultCache(ReportStore(store, AnalysisSettings()))
    yield made
    made.close()


def restarted(store: Store) -> StaticResultCache:
    """One that remembers nothing, over the same tables."""
    return StaticResultCache(ReportStore(store, AnalysisSettings()))


async def test_what_is_looked_up_is_what_was_found(store: Store, done: Counted) -> None:
    for code in (CALLED, DESTROYED):
        first = await restarted(store).analyse(code)
        assert first == analyse_code(code)
        assert await restarted(store).analyse(code) == first
    assert done.codes == [CALLED, DESTROYED]


async def test_builds_that_differ_in_metadata_are_one_code(
    static_results: StaticResultCache, done: Counted
) -> None:
    for build in range(3):
        await static_results.analyse(CALLED + bytes.fromhex(METADATA.format(build)))
    await static_results.analyse(CALLED)
    assert done.codes == [CALLED]


async def test_callers_at_the_same_time_share_one_run(
    static_results: StaticResultCache, done: Counted
) -> None:
    found = await asyncio.gather(*(static_results.analyse(CALLED) for _ in range(5)))
    assert len(done.codes) == 1
    assert all(each == found[0] for each in found)


async def test_anew_replaces_what_is_kept_of_that_code_alone(store: Store, done: Counted) -> None:
    wrong = await restarted(store).analyse(DESTROYED)
    await restarted(store).analyse(CALLED)
    text = read_found(store, code_hash=wrong.code_hash, version=analysis_version())
    assert text is not None
    call_hash = hash_of(CALLED)
    write_found(store, code_hash=call_hash, version=analysis_version(), size=1, found=text)
    running = restarted(store)
    assert await running.analyse(CALLED) == wrong
    assert await running.analyse(CALLED, redecompile=True) == analyse_code(CALLED)
    assert await running.analyse(CALLED) == analyse_code(CALLED)
    assert await restarted(store).analyse(CALLED) == analyse_code(CALLED)
    assert done.codes == [DESTROYED, CALLED, CALLED]


async def test_other_versions_are_not_asked_and_go_at_the_start(
    store: Store, done: Counted
) -> None:
    code_hash = hash_of(CALLED)
    write_found(store, code_hash=code_hash, version="old", size=1, found="not even JSON")
    running = restarted(store)
    await running.analyse(CALLED)
    assert done.codes == [CALLED]
    assert read_found(store, code_hash=code_hash, version="old") is not None
    await running.start()
    assert read_found(store, code_hash=code_hash, version="old") is None
    assert read_found(store, code_hash=code_hash, version=analysis_version()) is not None


async def test_a_row_of_another_shape_is_no_answer(store: Store, done: Counted) -> None:
    code_hash = hash_of(CALLED)
    write_found(store, code_hash=code_hash, version=analysis_version(), size=1, found='{"a": 1}')
    assert await restarted(store).analyse(CALLED) == analyse_code(CALLED)
    assert done.codes == [CALLED]


class Full:
    """Tables on a full disk."""

    async def find_code(self, code_hash: Hash32, version: str) -> str | None:
        raise StoreError(path="store", reason="cannot read")

    async def keep_code(self, code_hash: Hash32, version: str, *, size: int, found: str) -> None:
        raise StoreError(path="store", reason="No space left on device")

    async def forget_codes(self, *, but_of_version: str) -> None:
        raise StoreError(path="store", reason="No space left on device")


async def test_tables_that_cannot_be_used_cost_no_answer() -> None:
    static_results = StaticResultCache(Full())
    await static_results.start()
    assert await static_results.analyse(CALLED) == analyse_code(CALLED)


async def test_what_the_clock_cut_short_is_not_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_slow(code: bytes) -> CodeAnalysis:
        return unanalysed(code)

    monkeypatch.setattr(module, "analyse_code", too_slow)
    assert (await restarted(store).analyse(CALLED)).findings.external_call is None
    assert read_found(store, code_hash=hash_of(CALLED), version=analysis_version()) is None


async def test_small_codes_leave_no_rows(store: Store) -> None:
    small = assemble("0x1234 SELFDESTRUCT")
    await restarted(store).analyse(small)
    assert read_found(store, code_hash=hash_of(small), version=analysis_version()) is None


def end_this_process(_code: bytes, _limit_s: float) -> CodeAnalysis:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


async def test_a_code_that_ends_its_worker_is_not_known_and_the_next_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    static_results = StaticResultCache(in_processes=True)
    with monkeypatch.context() as patched:
        patched.setattr(worker_pool, "analyse_within", end_this_process)
        lost = await static_results.analyse(CALLED)
    assert lost.findings.external_call is None
    assert lost.is_timed_out
    assert await static_results.analyse(DESTROYED) == analyse_code(DESTROYED)
    static_results.close()


@pytest.mark.parametrize(
    "tail",
    [
        # a jump destination inside: the code could run there
        METADATA.format(0x5B << 8 * 20),
        # no metadata at all
        "fe" + "00" * 40 + "0033",
    ],
)
def test_a_tail_that_could_run_is_code(tail: str) -> None:
    code = CALLED + bytes.fromhex(tail)
    assert strip_metadata(code) == code


def test_code_disguised_as_metadata_is_examined() -> None:
    tail = "raw:a1646970667358 hidden: 0x1234 SELFDESTRUCT"
    size = len(assemble(tail))
    code = assemble(f"CALLVALUE @hidden JUMPI STOP {tail} raw:{size:04x}")
    assert strip_metadata(code) == code
    assert analyse_code(code).findings.can_selfdestruct is True


def test_what_falls_through_into_metadata_is_code() -> None:
    body = assemble("0x1234 CALLER EQ")
    code = body + bytes.fromhex(METADATA.format(1))
    assert strip_metadata(code) == code
    assert strip_metadata(body + b"\0" + bytes.fromhex(METADATA.format(1))) == body + b"\0"


def test_several_trailers_go() -> None:
    trailers = bytes.fromhex(METADATA.format(1)) + bytes.fromhex(METADATA.format(2))
    assert strip_metadata(CALLED + trailers) == CALLED
