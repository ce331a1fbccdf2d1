"""Small replayed chains, and a wire to them that is no socket."""

from config.facts.chain import Chain
from config.settings import IndexerSettings, RpcSettings
from core.rpc.client import RpcClient
from core.rpc.endpoint import Endpoint
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.node.chain import InstantClock
from tests.harness.replay.answers import NodeAnswers
from tests.harness.replay.block_maker import ReplaySpec
from tests.harness.replay.faults import FaultPlan, no_faults
from tests.harness.replay.http_server import answer_calls, read_message
from tests.harness.replay.log_formats import LogFormatName

CHAINS: tuple[Chain, ...] = BUILT_IN_CHAINS


def small(
    *, chain: Chain = CHAINS[0], seed: int = 7, log_format: LogFormatName = "geth"
) -> ReplaySpec:
    """A chain of some thousand logs with everything on it."""
    return ReplaySpec(
        chain=chain,
        seed=seed,
        blocks=70,
        first_block=1_048_550,  # the numbers get a digit more on the way
        logs_per_block=40,
        tokens=80,
        wallets=50,
        log_format=log_format,
    )


class MemoryWire:
    """A transport that ends in a replayed node, without a socket between."""

    service = "replay:1"

    def __init__(self, node: NodeAnswers, *, faults: FaultPlan = no_faults) -> None:
        self._node = node
        self._faults = faults

    async def exchange(self, body: bytes, *, ids: range) -> bytes:
        """The wire."""
        del ids
        calls, is_batch = read_message(body)
        return b"".join(answer_calls(self._node, calls, self._faults(calls), is_batch=is_batch))

    async def aclose(self) -> None:
        """Nothing to close."""


def client_of(wire: MemoryWire, chain: Chain) -> RpcClient:
    """A client whose wire ends in a replayed node, and whose waits take no time."""
    return RpcClient(
        [Endpoint(wire, max_batch=100)],
        chain_id=chain.id,
        settings=RpcSettings(),
        clock=InstantClock(),
    )


SETTINGS = IndexerSettings(initial_log_range=16, max_log_range=32, commit_rows=500)
SOON_FINAL = min(CHAINS, key=lambda chain: chain.finality_blocks)
"""Nearly all of it is read by range."""
