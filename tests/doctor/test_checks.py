"""Protects the checks of `assay doctor` without a node: all are registered, the methods are those
that the code calls, and searches for a limit find it, wherever it is."""

import re
from collections.abc import Callable
from importlib import import_module

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.doctor import examine_chain
from assay.doctor.abilities import limit_checks, log_checks, state_checks
from assay.doctor.abilities.method_checks import METHODS, example_requests
from assay.doctor.call_budget import CallBudget
from assay.doctor.check import Check, CheckFinding, ProbeAnswer, ProbeAnswers, Question, Subject
from assay.doctor.check_registry import CHECKS, IDENTITY
from assay.doctor.examine_endpoint import run_check
from assay.doctor.probe import Probe
from assay.doctor.provider_weights import load_providers
from config.settings import IndexerSettings, RpcSettings
from core.evm.primitives import ZERO_ADDRESS, BlockRef, Hash32
from core.rpc.headers import Header, LogsBloom
from core.rpc.messages import RpcFault, RpcRequest
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.house.sources import ROOT, python_files, text_constants

METHOD = re.compile(r"(eth|debug|net|web3|trace|txpool)_[a-zA-Z0-9]+")
CHAIN = next(chain for chain in BUILT_IN_CHAINS if chain.id == 1)


def subject_at(head: int, *, max_batch: int = 100) -> Subject:
    return Subject(
        chain=CHAIN,
        head=Header(
            ref=BlockRef(
                number=head,
                hash=Hash32("0x" + "ab" * 32),
                parent_hash=Hash32("0x" + "cd" * 32),
                time_s=head * 12,
            ),
            logs_bloom=LogsBloom(0),
            proposer=ZERO_ADDRESS,
            base_fee_wei=7,
        ),
        rpc=RpcSettings(max_batch=max_batch),
        indexer=IndexerSettings(),
        now_s=lambda: head * 12.0,
    )


def run(check: Check, subject: Subject, answer: Callable[[RpcRequest], object]) -> CheckFinding:
    """Return the only finding of a check with scripted answers. An RpcFault is an error."""
    steps = check.look(subject)
    question = next(steps)
    while True:
        assert isinstance(question, Question)
        answers: list[ProbeAnswer] = []
        for request in question.requests:
            value = answer(request)
            answers.append(
                value if isinstance(value, RpcFault) else msgspec.Raw(msgspec.json.encode(value))
            )
        try:
            question = steps.send(ProbeAnswers(all=tuple(answers), elapsed_s=(0.1,)))
        except StopIteration as end:
            (finding,) = end.value
            assert isinstance(finding, CheckFinding)
            return finding


def test_the_registry_is_the_folders() -> None:
    folders = (ROOT / "assay" / "doctor" / name for name in ("abilities", "facts"))
    modules = [
        import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for folder in folders
        for path in folder.glob("[!_]*.py")
    ]
    checks = [
        [one for one in vars(module).values() if isinstance(one, Check)] for module in modules
    ]
    assert all(checks), "a module without a check"
    found = [check for own in checks for check in own]
    registered = (IDENTITY, *CHECKS)
    assert len(registered) == len(found) == len({check.name for check in registered})
    assert {check.name for check in found} == {check.name for check in registered}
    for check in registered:
        assert check.question, check.name
        assert check.costs, check.name
        assert check.mend, check.name


def test_the_methods_are_those_that_the_product_calls() -> None:
    called = {
        text
        for path in python_files("core", "indexer", "analysis", "assay/service")
        for _, text in text_constants(path)
        if METHOD.fullmatch(text)
    }
    assert called == {method.name for method in METHODS}
    unasked = {"eth_subscribe", "debug_traceTransaction"}
    assert {*example_requests(subject_at(100))} == called - unasked


def test_providers_have_weights_of_methods_that_are_called() -> None:
    for provider in load_providers():
        assert {*provider.weights} <= {method.name for method in METHODS}
        calls = dict.fromkeys(provider.weights, 2.0) | {"eth_unheard": 1.0}
        assert provider.units(calls) == 2 * sum(provider.weights.values())
        assert provider.unweighted(calls) == ("eth_unheard",)


@given(limit=st.integers(1, 12_000), head=st.integers(0, 20_000))
def test_the_longest_range_is_found(limit: int, head: int) -> None:
    def answer(request: RpcRequest) -> object:
        (where,) = request.params
        assert isinstance(where, dict)
        first, last = int(where["fromBlock"], 16), int(where["toBlock"], 16)
        assert 0 <= first <= last == head
        if last - first + 1 > limit:
            return RpcFault(code=-32000, message="block range is too wide")
        return []

    finding = run(log_checks.LOG_RANGES, subject_at(head), answer)
    found = int(finding.seen.split()[0])
    most = min(head + 1, IndexerSettings().max_log_range)
    assert found <= min(limit, most)
    assert (finding.status == "ok") == (limit >= most)
    assert found >= min(limit, most) * 7 // 8


@given(kept=st.integers(1, 30_000_000), head=st.integers(1, 25_000_000))
def test_the_oldest_state_is_found(kept: int, head: int) -> None:
    """A node that keeps the states of the last blocks."""

    def answer(request: RpcRequest) -> object:
        match request.method, request.params:
            case "eth_getBlockByNumber", (str(number), True):
                return {"transactions": []}
            case "eth_getBlockByNumber", (str(number), False):
                return header_json(int(number, 16))
            case "eth_call", (_, str(number)):
                if head - int(number, 16) > kept:
                    return RpcFault(code=-32000, message="missing trie node")
                return "0x" + (12 * int(number, 16)).to_bytes(32).hex()
        raise AssertionError(request)

    finding = run(state_checks.OLD_STATES, subject_at(head), answer)
    found = int("".join(filter(str.isdigit, finding.seen)))
    assert found <= kept
    assert found >= min(kept, head) * 3 // 4
    assert (finding.status == "ok") == (found == head)


def header_json(number: int) -> dict[str, str]:
    return {
        "number": hex(number),
        "hash": "0x" + number.to_bytes(32).hex(),
        "parentHash": "0x" + (number - 1 if number else 0).to_bytes(32).hex(),
        "timestamp": hex(12 * number),
        "logsBloom": "0x" + "00" * 256,
        "miner": ZERO_ADDRESS,
    }


@pytest.mark.parametrize("limit", [1, 2, 9, 10, 29, 30, 49, 50])
def test_the_largest_batch_that_is_taken_is_said(limit: int) -> None:
    subject = subject_at(1_000, max_batch=50)
    batch_sizes: list[int] = []
    steps = limit_checks.BATCHES.look(subject)
    question = next(steps)
    finding: CheckFinding | None = None
    while finding is None:
        assert isinstance(question, Question)
        assert question.sending == "one message"
        size = len(question.requests)
        batch_sizes.append(size)
        refusal = RpcFault(code=-32600, message="batch too large")
        one: ProbeAnswer = refusal if size > limit else msgspec.Raw(b"{}")
        try:
            question = steps.send(ProbeAnswers(all=(one,) * size, elapsed_s=(0.1,)))
        except StopIteration as end:
            (finding,) = end.value
    assert batch_sizes == sorted(batch_sizes)
    taken = max((size for size in batch_sizes if size <= limit), default=1)
    assert finding.seen.startswith(f"{taken} requests")
    assert (finding.status == "ok") == (limit == 50)


def test_endpoints_are_compared_a_little_below_the_lowest_head() -> None:
    assert examine_chain.common_height({"one": 100}, CHAIN) is None
    height = examine_chain.common_height({"one": 100, "two": 98}, CHAIN)
    assert height == 95
    same, other = Hash32("0x" + "11" * 32), Hash32("0x" + "22" * 32)
    table: list[tuple[dict[str, int], dict[str, Hash32 | None], list[str]]] = [
        ({"a": 100, "b": 98}, {"a": same, "b": same}, ["ok", "ok"]),
        ({"a": 100, "b": 97}, {"a": same, "b": other}, ["ok", "failed"]),
        ({"a": 100, "b": 96}, {"a": same, "b": same}, ["failed", "ok"]),
        ({"a": 100, "b": 100}, {"a": same, "b": None}, ["ok", "failed"]),
    ]
    for heads, hashes, wanted in table:
        results = examine_chain.compare(CHAIN, heads, height=95, hashes=hashes)
        assert [one.status for one in results] == wanted


def test_the_documents_list_every_check() -> None:
    text = (ROOT / "docs" / "operate" / "nodes.md").read_text(encoding="utf-8")
    table = text.split("\n## Checks\n")[1].split("\n## ")[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in table if line.startswith("|")]
    assert rows[2:] == [[check.name, check.question, check.costs] for check in (IDENTITY, *CHECKS)]


NONSENSE: tuple[object, ...] = (
    *(None, 7, True, [], {}, "0x", "0xzz", "0x" + "9" * 9_000, "x" * 10_000, [None], [{}]),
    header_json(1_000),
    [header_json(1_000)],
)


async def test_nonsense_of_any_length_is_a_short_finding() -> None:
    """A node may send anything: no check raises, and no line of the report is long."""

    class Nonsense:
        service = "nonsense"

        def __init__(self, result: object) -> None:
            self._result = msgspec.json.encode(result)

        async def exchange(self, body: bytes, *, ids: range) -> bytes:
            one = b'{"jsonrpc":"2.0","id":%d,"result":' + self._result + b"}"
            listed = b",".join(one % number for number in ids)
            return b"[" + listed + b"]" if len(ids) > 1 else listed

        async def aclose(self) -> None:
            pass

    for result in NONSENSE:
        budget = CallBudget(most_calls=20_000, deadline_s=60.0, now_s=lambda: 0.0)
        probe = Probe(Nonsense(result), budget, timeout_s=1.0)
        for check in (IDENTITY, *CHECKS):
            findings = await run_check(check, subject_at(1_000), probe)
            assert findings, (check.name, result)
            assert all(len(one.seen) < 1_000 for one in findings), check.name
