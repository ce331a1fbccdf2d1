"""Walks foresee the code's run on a real EVM: each jump, each store, each read, each call."""

from collections.abc import Iterator
from functools import cache
from typing import Final

import evmole
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.static.evm.budget import Budget
from analysis.static.evm.cfg import Cfg, CfgNode
from analysis.static.evm.disassembly import split, strip_metadata
from analysis.static.evm.path_explorer import explore
from assay.demo.anvil import AnvilNode
from assay.demo.npm_packages import NODE_MODULES
from tests.harness.cases.cases import Case, load_cases
from tests.harness.cases.cases_compile import HAS_VYPER, Build, builds_of, runtime_of
from tests.harness.examples import part_of
from tests.harness.static.foreseen_run import UnforeseenError, fits, follow
from tests.harness.static.node_runs import ARGUMENTS, Run, runs_of

_UNKNOWN_SELECTOR: Final = "01020304"

_HARD: Final = frozenset(
    {"HandMadeSlots", "ManyAtOnce", "Namespaced", "PackedBalances", "Roles", "VyperMint"}
)
"""Taken by every build; of the others one build each, all builds in turn."""

_SHIPPED: Final = (
    "@uniswap/v2-periphery/build/WETH9.json",
    "@uniswap/v2-periphery/build/UniswapV2Router02.json",
    "@uniswap/v2-core/build/UniswapV2Pair.json",
    "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json",
    "@uniswap/v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json",
)


class _Code(msgspec.Struct):
    object: str


class _Deployed(msgspec.Struct):
    deployedBytecode: str | _Code | None = None  # noqa: N815 - the compiler's name


class _Shipped(_Deployed):
    """The code stands at the top or under `evm`."""

    evm: _Deployed | None = None


def _chosen() -> list[tuple[Case, Build]]:
    chosen = []
    for number, case in enumerate(load_cases()):
        builds = builds_of(case)
        if case.name not in _HARD:
            builds = (builds[number % len(builds)],)
        chosen += [(case, build) for build in builds]
    return [(case, build) for case, build in chosen if case.kind != "unknown"]


class Subject:
    """A code, its walk, and its calls."""

    def __init__(self, code: bytes) -> None:
        stripped = strip_metadata(code)
        found = evmole.contract_info(stripped, selectors=True).functions or []
        selectors = sorted(each.selector for each in found)
        listed = {int(each, 16) for each in selectors}
        self.code = code
        self.selectors = (*selectors, _UNKNOWN_SELECTOR)
        self.exploration = explore(split(stripped), selectors=listed, budget=Budget())
        self.reads = tuple(
            term.arguments[0] for term in self.exploration.pool.terms() if term.operation == "SLOAD"
        )
        """Every slot that the walk saw read, wherever."""

    def check(self, run: Run) -> None:
        """Fail on a step that the walk did not foresee."""
        is_found = follow(run, self.exploration.graph)
        assert is_found or self.exploration.notes.unfinished
        read = {step.operand(0) for step in run.steps if step.op == "SLOAD"}
        assert not [slot for slot in read if not self.has_read(slot, run)]

    def has_read(self, slot: int, run: Run) -> bool:
        """True if some read of the walk may have been of this slot."""
        return any(fits(word, slot, run) for word in self.reads)


@cache
def subject_of(name: str, build: str) -> Subject:
    """A case by one of its builds."""
    [case] = [case for case in load_cases() if case.name == name]
    [chosen] = [each for each in builds_of(case) if each.name == build]
    return Subject(runtime_of(case, chosen))


@cache
def shipped(path: str) -> Subject:
    """A contract as its package ships it."""
    artefact = msgspec.json.decode((NODE_MODULES / path).read_bytes(), type=_Shipped)
    code = (artefact if artefact.evm is None else artefact.evm).deployedBytecode
    assert code is not None
    text = code.object if isinstance(code, _Code) else code
    return Subject(bytes.fromhex(text.removeprefix("0x")))


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """The same arguments for every function of a code."""

    arguments: list[int]
    seed: int
    """Seed of the made-up storage."""
    value_wei: int

    def runs(self, node: AnvilNode, subject: Subject) -> Iterator[Run]:
        """Every function, over ever more storage."""
        words = b"".join(word.to_bytes(32) for word in self.arguments)
        for selector in subject.selectors:
            data = bytes.fromhex(selector) + words
            yield from runs_of(node, subject.code, data, value_wei=self.value_wei, seed=self.seed)


calls = st.builds(
    Calls,
    arguments=st.lists(st.sampled_from(ARGUMENTS), max_size=9),
    seed=st.integers(min_value=0, max_value=2**32),
    value_wei=st.sampled_from((0, 0, 0, 7)),
)
some = settings(
    max_examples=4,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


CHOSEN = {f"{case.name}-{build.name}": (case, build) for case, build in _chosen()}


@pytest.mark.parametrize("name", part_of(CHOSEN, one_in=4))
@some
@given(given_calls=calls)
def test_every_run_was_foreseen(bare_node: AnvilNode, name: str, given_calls: Calls) -> None:
    case, build = CHOSEN[name]
    if build.package == "vyper" and not HAS_VYPER:
        pytest.skip("Vyper is not installed; run `make setup`")
    subject = subject_of(case.name, build.name)
    assert not subject.exploration.notes.unfinished
    for run in given_calls.runs(bare_node, subject):
        subject.check(run)


@pytest.mark.parametrize("path", _SHIPPED)
@some
@given(given_calls=calls)
def test_every_run_of_a_real_exchange_was_foreseen(
    bare_node: AnvilNode, path: str, given_calls: Calls
) -> None:
    for run in given_calls.runs(bare_node, shipped(path)):
        shipped(path).check(run)


# --- a walk that misses something is noticed ----------------------------------------------------


def transfer_that_works(node: AnvilNode, subject: Subject) -> Run:
    data = bytes.fromhex("a9059cbb") + (0xB0B).to_bytes(32) + bytes(32)
    *_, last = runs_of(node, subject.code, data, value_wei=0, seed=1)
    assert last.steps[-1].op == "RETURN"
    return last


def nodes_of(graph: Cfg) -> list[CfgNode]:
    found: dict[int, CfgNode] = {}
    waiting = [node for roots in graph.roots.values() for node in roots]
    while waiting:
        node = waiting.pop()
        if node.number not in found:
            found[node.number] = node
            waiting.extend(node.successors())
    return list(found.values())


@pytest.fixture
def plain(bare_node: AnvilNode) -> tuple[Subject, Run]:
    """A private walk for a test that spoils it, and a run that it foresaw."""
    [case] = [case for case in load_cases() if case.name == "Plain"]
    subject = Subject(runtime_of(case, builds_of(case)[-1]))
    run = transfer_that_works(bare_node, subject)
    subject.check(run)
    return subject, run


def test_a_missing_store_is_noticed(plain: tuple[Subject, Run]) -> None:
    subject, run = plain
    for node in nodes_of(subject.exploration.graph):
        node.effects = [effect for effect in node.effects if effect.kind != "SSTORE"]
    with pytest.raises(UnforeseenError, match="SSTORE"):
        subject.check(run)


def test_a_store_to_another_mapping_is_noticed(plain: tuple[Subject, Run]) -> None:
    subject, run = plain
    other = subject.exploration.pool.hash_words((subject.exploration.pool.intern("CALLER"), 99))
    for node in nodes_of(subject.exploration.graph):
        node.effects = [
            msgspec.structs.replace(effect, words=(other, effect.words[1]))
            for effect in node.effects
        ]
    with pytest.raises(UnforeseenError, match="SSTORE"):
        subject.check(run)


def test_a_branch_without_one_of_its_sides_is_noticed(plain: tuple[Subject, Run]) -> None:
    subject, run = plain
    for node in nodes_of(subject.exploration.graph):
        if node.branch is not None:
            node.branch = msgspec.structs.replace(
                node.branch, if_true=node.branch.if_false, if_false=node.branch.if_false
            )
    with pytest.raises(UnforeseenError):
        subject.check(run)


def test_a_read_that_is_not_known_is_noticed(plain: tuple[Subject, Run]) -> None:
    subject, run = plain
    subject.reads = tuple(word for word in subject.reads if isinstance(word, int))
    with pytest.raises(AssertionError):
        subject.check(run)
