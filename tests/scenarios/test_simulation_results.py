"""Protects results of simulations: read by the handle of a call, with one line for a revert."""

import ast
from collections.abc import Sequence
from typing import Literal

import msgspec
import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from analysis.market.venues.pool import Candidate
from analysis.market.venues.swaps import pair_swap
from analysis.market.venues.trade_route import TradeRoute
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.revert_reason import decode_revert
from analysis.scenarios.trade.sale import read_attempts
from analysis.scenarios.trade.token_calls import approve_call, balance_call
from analysis.scenarios.trade.trade_outcome import read_sale
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.scenarios.trade.trade_steps import (
    ApprovalSteps,
    Order,
    SaleSteps,
    write_approval,
    write_sale,
)
from analysis.simulation.backends import perform
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.disguise import Disguise
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.evidence import SimulationEvidence, simulation_evidence
from analysis.simulation.simulate_v1 import (
    READ_GAS,
    CallHandle,
    Outcome,
    Passed,
    Refused,
    SimLog,
    SimResult,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from config.facts.chain import Dex
from core.evm.abi import topic_of
from core.evm.keccak import keccak
from core.evm.primitives import Address, BlockRef, Hash32, RawAmount
from core.rpc.messages import RpcAnswer, RpcRequest
from tests.house.sources import ROOT, parsed

TOKEN, QUOTE, POOL, ROUTER, TRADER = (Address("0x" + digit * 40) for digit in "56789")

PIN = BlockRef(number=1, hash=Hash32("0x"), parent_hash=Hash32("0x"), time_s=1)

DISGUISE = Disguise(secret="s", base_fee_wei=1, proposers=(ROUTER,))

METHODS = ("eth_simulateV1", "debug_traceCall", "eth_call")

BALANCES = ((11, 12), (), (31, 32))

"""One balance, read several times under one label, with an empty block in between."""

APPROVED = 1

WORDS = (*(value for block in BALANCES for value in block), APPROVED)


def reads_of_a_balance() -> tuple[Simulation, list[CallHandle]]:
    builder = SimulationBuilder([(2, 2), (3, 3), (4, 4)])
    handles = [
        builder[at].add(balance_call(TOKEN, TRADER, "balance"))
        for at, values in enumerate(BALANCES)
        for _ in values
    ]
    handles.append(builder[2].add(approve_call(TOKEN, TRADER, ROUTER, "balance")))
    simulation = Simulation(
        pin=PIN,
        disguise=DISGUISE,
        blocks=builder.blocks(),
        purses={TRADER: 1},
        storage={TOKEN: balance_override(TRADER, RawAmount(5), index=0)},
    )
    return simulation, handles


class Scripted:
    """A node that returns WORDS, one a call."""

    def __init__(self) -> None:
        self._rest = iter(WORDS)

    async def fetch_head(self) -> BlockRef:
        return PIN

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        by_method = {
            "eth_simulateV1": self._simulated,
            "debug_traceCall": self._traced,
            "eth_call": self._called,
        }
        return [by_method[request.method](request) for request in requests]

    def _simulated(self, request: RpcRequest) -> RpcAnswer:
        blocks = msgspec.to_builtins(request.params[0])["blockStateCalls"]
        answer = [
            {"calls": [{"status": "0x1", "returnData": self._word()} for _ in block["calls"]]}
            for block in blocks
        ]
        return msgspec.Raw(msgspec.json.encode(answer))

    def _traced(self, request: RpcRequest) -> RpcAnswer:
        if b"prestateTracer" in msgspec.json.encode(request.params):
            return msgspec.Raw(b'{"pre":{},"post":{}}')
        return msgspec.Raw(msgspec.json.encode({"output": self._word()}))

    def _called(self, request: RpcRequest) -> RpcAnswer:
        creator = bytes.fromhex(msgspec.to_builtins(request.params[0])["from"][2:])
        reply = keccak(b"\xd6\x94" + creator + b"\x80")[-20:].rjust(32, b"\0")
        for value in WORDS:
            reply += b"\x01" + (32).to_bytes(3) + value.to_bytes(32)
        return msgspec.Raw(b'"0x' + reply.hex().encode() + b'"')

    def _word(self) -> str:
        return f"0x{next(self._rest):064x}"


async def run(method: str, simulation: Simulation) -> SimulationResult:
    capabilities = NodeCapabilities()
    if method != "eth_simulateV1":
        capabilities.simulation.note_refusal()
    if method == "debug_traceCall":
        capabilities.traces.is_proven = True
    else:
        capabilities.traces.note_refusal()
    jobs = [SimulationJob(simulation=simulation)]
    (result,) = await perform(Scripted(), capabilities, jobs, codes=[bytes.fromhex("6001600055")])
    assert isinstance(result, SimulationResult), result
    return result


@pytest.mark.parametrize("method", METHODS)
async def test_a_handle_reads_its_own_call_whatever_the_label(method: str) -> None:
    simulation, handles = reads_of_a_balance()
    result = await run(method, simulation)
    assert result.method == method
    assert tuple(result.word(handle) for handle in handles) == WORDS
    assert result.word(None) is None


async def test_the_evidence_shows_the_chosen_calls_and_no_namesakes() -> None:
    simulation, handles = reads_of_a_balance()
    result = await run("eth_simulateV1", simulation)
    row = simulation_evidence("key", 1, simulation, result, None, shown={handles[2], handles[0]})
    evidence = msgspec.json.decode(row.body, type=SimulationEvidence)
    assert [int(call.returned, 16) for call in evidence.calls] == [11, 31]
    everything = simulation_evidence("key", 1, simulation, result, None)
    assert len(msgspec.json.decode(everything.body, type=SimulationEvidence).calls) == len(WORDS)


@pytest.mark.parametrize(("ahead", "blocks"), [(1, 2), (200, 201), (4_000_000, 2)])
def test_a_far_block_has_no_request_of_millions(ahead: int, blocks: int) -> None:
    simulation, _ = reads_of_a_balance()
    first, *_, last = simulation.blocks
    far = msgspec.structs.replace(last, number=first.number + ahead, time_s=first.time_s + ahead)
    request = msgspec.structs.replace(simulation, blocks=(first, far)).request
    assert len(msgspec.to_builtins(request.params[0])["blockStateCalls"]) == blocks


def test_a_named_writer_changes_labels_and_the_gas_of_transactions_only() -> None:
    builder = SimulationBuilder([(2, 2)])
    own = builder[0].named("first: ", gas=77).named("again ")
    own.add(approve_call(TOKEN, TRADER, ROUTER, "approve"))
    own.add(balance_call(TOKEN, TRADER, "balance"))
    ((approve, balance),) = (block.calls for block in builder.blocks())
    assert (approve.label, approve.gas) == ("first: again approve", 77)
    assert (balance.label, balance.gas) == ("first: again balance", READ_GAS)


def test_only_the_evidence_reads_a_label() -> None:
    """Any other reader would decide by a text that is written for people."""
    writers = {"simulation_builder", "trade_steps"}
    readers = {
        path.stem
        for top in ("simulation", "scenarios", "pipeline")
        for path in (ROOT / "analysis" / top).glob("*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute) and node.attr == "label"
    }
    assert readers - writers == {"evidence"}


# --- attempts to sell ----------------------------------------------------------------------------
SETUP = TradeSetup(
    pin=PIN,
    disguise=DISGUISE,
    blocks=((2, 2), (3, 3), (4, 4), (5, 5)),
    candidate=Candidate(
        dex=Dex(name="D", kind="AmmV2", factory=ROUTER), pool=POOL, token=TOKEN, quote=QUOTE
    ),
    quote_reserve_raw=RawAmount(10**18),
    route=TradeRoute(
        router=ROUTER, swap_data=lambda _: "0x", read_moved=pair_swap.read_moved, takes_all=True
    ),
    quote_slot_index=0,
    token_slot_index=0,
)

SOLD = SimResult(
    ok=True,
    data=b"",
    logs=(
        SimLog(
            address=POOL,
            topics=(topic_of("Swap(address,uint256,uint256,uint256,uint256,address)"),),
            data="0x" + encode(["uint256"] * 4, [100, 0, 0, 50]).hex(),
        ),
    ),
    message="",
)

REVERTED = SimResult(ok=False, data=b"", logs=(), message="execution reverted")


def answered(value: int) -> SimResult:
    return SimResult(ok=True, data=value.to_bytes(32), logs=(), message="")


class Sales:
    """An approval before which 200 tokens are held, and attempts to sell 100 after it."""

    def __init__(self) -> None:
        self._calls = SimulationBuilder([(2, 2)])[0]
        self._results: list[SimResult] = []
        self.approval = write_approval(self._calls, SETUP, TRADER, "at sale", 100)
        self._results += [answered(200), answered(APPROVED)]

    def attempt(
        self,
        sell: SimResult,
        *,
        balance_raw: int = 100,
        share: Literal["all", "half"] = "all",
        approval: ApprovalSteps | None = None,
        first: SaleSteps | None = None,
    ) -> SaleSteps:
        order = Order(label="", amount=RawAmount(100 if share == "all" else 50), share=share)
        steps = write_sale(self._calls, SETUP, TRADER, order, approval=approval, first=first)
        left = 0 if sell.ok else balance_raw
        self._results += [answered(balance_raw), answered(0), sell, answered(left), answered(50)]
        return steps

    @property
    def result(self) -> SimulationResult:
        return SimulationResult((tuple(self._results),))


def test_what_the_approval_took_counts_for_the_first_attempt_and_its_repetitions() -> None:
    sales = Sales()
    first = sales.attempt(SOLD, approval=sales.approval)
    repeated = sales.attempt(SOLD, first=first)
    other = sales.attempt(SOLD)
    assert read_sale(SETUP, sales.result, first) == Passed(tax=50.0)
    assert read_sale(SETUP, sales.result, repeated) == Passed(tax=50.0)
    assert read_sale(SETUP, sales.result, other) == Passed(tax=0.0)


@pytest.mark.parametrize(("balance_raw", "outcome"), [(100, Refused), (99, Passed)])
def test_half_sells_nothing_while_all_of_it_is_held(
    balance_raw: int, outcome: type[Outcome]
) -> None:
    sales = Sales()
    whole = sales.attempt(REVERTED)
    half = sales.attempt(SOLD, balance_raw=balance_raw, share="half", first=whole)
    assert isinstance(read_attempts(SETUP, sales.result, [(whole, half)]), outcome)


# --- revert reason ------------------------------------------------------------------------------

ERROR = bytes.fromhex("08c379a0")

PANIC = bytes.fromhex("4e487b71")

WALLET = "0x" + "ab" * 20

NO_BALANCE = bytes.fromhex("e450d38c") + encode(["address", "uint256", "uint256"], [WALLET, 3, 5])

AFTER_SWAP = bytes.fromhex("b47b2fb1")


def wrapped(reason: bytes) -> bytes:
    """As v4-core's CustomRevert does it."""
    values = [WALLET, AFTER_SWAP, reason, bytes.fromhex("a9e35b2f")]
    return bytes.fromhex("90bfb865") + encode(["address", "bytes4", "bytes", "bytes"], values)


@pytest.mark.parametrize(
    ("data", "message", "reason"),
    [
        (ERROR + encode(["string"], ["not open"]), "x", "not open"),
        (ERROR + encode(["string"], [""]), "x", "reverted with an empty reason"),
        (PANIC + (0x11).to_bytes(32, "big"), "x", "panic 0x11"),
        (bytes.fromhex("deadbeef"), "x", "custom error 0xdeadbeef"),
        (b"", "out of gas", "out of gas"),
        (b"", "", "reverted without a reason"),
        (
            ERROR + b"\xff" * 64,
            "x",
            f"custom error 0x08c379a0(0x{'f' * 64}, 0x{'f' * 64})",
        ),
        (bytes.fromhex("deadbeef") + bytes(96), "x", "custom error 0xdeadbeef(0x0, 0x0, ...)"),
        (NO_BALANCE, "x", f"ERC20InsufficientBalance({WALLET}, 3, 5)"),
        (NO_BALANCE[:16], "x", "custom error 0xe450d38c(0x0)"),
        (bytes.fromhex("5212cba1"), "x", "CurrencyNotSettled()"),
        (
            wrapped(ERROR + encode(["string"], ["no selling"])),
            "x",
            f"{WALLET} failed in 0xb47b2fb1: no selling",
        ),
        (
            wrapped(wrapped(bytes.fromhex("d93c0665"))),
            "x",
            f"{WALLET} failed in 0xb47b2fb1: {WALLET} failed in 0xb47b2fb1: EnforcedPause()",
        ),
        (wrapped(b""), "x", f"{WALLET} failed in 0xb47b2fb1: HookCallFailed()"),
        (ERROR + encode(["string"], ["a\nb\x00c"]), "x", "a b c"),
    ],
)
def test_reasons(data: bytes, message: str, reason: str) -> None:
    assert decode_revert(data, message) == reason


@given(st.binary(max_size=5_000), st.text())
def test_any_bytes_end_in_one_short_printable_line(data: bytes, message: str) -> None:
    for payload in (data, ERROR + data):
        reason = decode_revert(payload, message)
        assert reason
        assert len(reason) <= 200
        assert reason.isprintable()
