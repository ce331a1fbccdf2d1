"""Both rounds of the question who issued a token, on a real node or over answers at hand."""

from collections.abc import Callable, Sequence

import msgspec

from analysis.launchpads import origin, verdict
from analysis.launchpads.origin import OriginReads
from analysis.launchpads.verdict import ConfirmationReads, IssuerOrigin
from analysis.reads.node import Node
from analysis.reads.read_batch import ReadBatch
from analysis.token.metadata import Metadata
from config.facts.launchpad import Launchpad
from core.evm.primitives import Address, BlockRef, Hash32, RawAmount
from core.report.rows import LaunchRow
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.node.answers import answer_each

METADATA = Metadata(name="Any", symbol="ANY", decimals=18, supply_raw=RawAmount(10**27))
PIN = BlockRef(
    number=50_000_000,
    hash=Hash32("0x" + "11" * 32),
    parent_hash=Hash32("0x" + "22" * 32),
    time_s=1_790_000_000,
)
REVERT = RpcFault(code=3, message="execution reverted")
REFUSAL = RpcFault(code=-32005, message="limit exceeded")
PLAIN_CODE = bytes.fromhex("60006000fd")


async def ask(
    node: Node,
    pads: Sequence[Launchpad],
    token: Address,
    *,
    launches: Sequence[LaunchRow] = (),
    covered: frozenset[str] = frozenset(),
) -> IssuerOrigin:
    """Search for the issuer on a node, as an analysis does."""
    pin = await node.fetch_head()
    inquiry = origin.begin(pads, token, launches, covered)
    first = ReadBatch(pin.hash)
    reads = OriginReads(first, inquiry, to_block=pin.number)
    await first.send(node)
    lead = reads.read(height=pin.number)
    second = ReadBatch(pin.hash)
    confirmation = ConfirmationReads(second, lead)
    await second.send(node)
    return verdict.conclude(
        lead, confirmation.read(), code=PLAIN_CODE, metadata=METADATA, has_pool=True
    )


def conclude(
    pads: Sequence[Launchpad],
    token: Address,
    answer: Callable[[RpcRequest], RpcAnswer],
    *,
    launches: Sequence[LaunchRow] = (),
    covered: frozenset[str] = frozenset(),
    code: bytes = PLAIN_CODE,
    metadata: Metadata = METADATA,
    has_pool: bool = True,
) -> IssuerOrigin:
    """As `ask`, each request answered by a function."""
    inquiry = origin.begin(pads, token, launches, covered)
    first = ReadBatch(PIN.hash)
    reads = OriginReads(first, inquiry, to_block=PIN.number)
    answer_each(first, answer)
    lead = reads.read(height=PIN.number)
    second = ReadBatch(PIN.hash)
    confirmation = ConfirmationReads(second, lead)
    answer_each(second, answer)
    return verdict.conclude(
        lead, confirmation.read(), code=code, metadata=metadata, has_pool=has_pool
    )


def log_answer(hex_data: str) -> msgspec.Raw:
    """An answer of a contract, as it comes over the wire."""
    return msgspec.Raw(msgspec.json.encode(hex_data))


def called(request: RpcRequest) -> tuple[str, str]:
    """Return address and data of a call; empty for another request."""
    (first, *_) = request.params
    if request.method != "eth_call" or not isinstance(first, dict):
        return "", ""
    return str(first["to"]), str(first["data"])
