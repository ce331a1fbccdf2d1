"""Lists that can only be read by number are walked on the node; unseen entries are not denied."""

from collections.abc import AsyncIterator, Iterator

import msgspec
import pytest

from analysis.launchpads import origin
from analysis.launchpads.catalogues import CatalogueRead, CatalogueSearch
from analysis.launchpads.verdict import IssuerOrigin
from analysis.reads.read_batch import ReadBatch
from assay.demo.anvil import AnvilNode
from config.settings import RpcSettings
from core.evm.primitives import Address
from core.rpc.client import RpcClient
from core.rpc.messages import RpcAnswer, RpcFault
from tests.harness.launchpads.issuer_search import REFUSAL, conclude
from tests.harness.launchpads.platforms import FLAT, LIST, STRANGER, Listing, other_address, pad_at

pytestmark = [pytest.mark.compiler, pytest.mark.process]

TOKENS = [other_address(("token", number)) for number in range(5)]


@pytest.fixture(scope="module")
def anvil() -> Iterator[AnvilNode]:
    with AnvilNode() as node:
        yield node


@pytest.fixture
def listing(anvil: AnvilNode) -> Listing:
    return Listing(anvil)


@pytest.fixture
async def client(anvil: AnvilNode) -> AsyncIterator[RpcClient]:
    client = await RpcClient.connect((anvil.url,), anvil.chain_id, RpcSettings())
    yield client
    await client.aclose()


async def find(client: RpcClient, at: Address, token: Address) -> str:
    walk = CatalogueSearch(pad=pad_at(at), catalogue=LIST, at=at)
    head = await client.fetch_head()
    batch = ReadBatch(head.hash)
    search = CatalogueRead(batch, walk, token)
    await batch.send(client)
    return search.read()


@pytest.mark.parametrize("entry", [FLAT, f"20 {FLAT}"], ids=["values", "struct"])
async def test_the_token_of_any_entry_is_found_and_no_other(
    listing: Listing, client: RpcClient, entry: str
) -> None:
    listing.hold(entry, *TOKENS)
    assert {await find(client, listing.at, token) for token in TOKENS} == {"listed"}
    assert await find(client, listing.at, STRANGER) == "absent"
    # It stands in every entry, at other places.
    assert await find(client, listing.at, other_address("another")) == "absent"


async def test_entries_may_be_counted_from_one(listing: Listing, client: RpcClient) -> None:
    listing.hold(FLAT, STRANGER, *TOKENS, count=len(TOKENS))
    assert {await find(client, listing.at, token) for token in TOKENS} == {"listed"}


async def test_what_lies_behind_a_very_long_list_is_unseen(
    listing: Listing, client: RpcClient
) -> None:
    listing.hold(FLAT, TOKENS[0], count=100_000)
    assert await find(client, listing.at, TOKENS[0]) == "unseen"


async def test_an_empty_list_and_no_list_name_nobody(listing: Listing, client: RpcClient) -> None:
    listing.hold(FLAT)
    assert await find(client, listing.at, TOKENS[0]) == "absent"
    assert await find(client, other_address("nobody"), TOKENS[0]) == "silent"


def test_what_was_not_seen_is_named_and_what_was_not_read_is_unknown() -> None:
    pads = (pad_at(other_address("list")),)
    token_answers: dict[str, RpcAnswer] = {
        "unseen": msgspec.Raw(b'"0x' + b"0" * 64 + b"f" * 64 + b'"'),
        "unread": REFUSAL,
        "no code of ours is put there": msgspec.Raw(b'"0x"'),
        "silent": RpcFault(code=3, message="execution reverted"),
    }

    def concluded(answer: RpcAnswer) -> IssuerOrigin:
        return conclude(pads, TOKENS[0], lambda _: answer)

    found = {name: concluded(answer) for name, answer in token_answers.items()}
    assert {name: (one.is_launchpad, one.unasked) for name, one in found.items()} == {
        "unseen": (False, ("pad",)),
        "unread": (None, ()),
        "no code of ours is put there": (None, ()),
        "silent": (False, ()),
    }
    assert found["unread"].unread == ("pad: entries(uint256)",)


def test_a_node_that_takes_no_code_of_ours_is_not_asked_and_that_is_said() -> None:
    pads = (pad_at(other_address("list")),)
    inquiry = origin.begin(pads, TOKENS[0], (), frozenset(), can_walk=False)
    assert (inquiry.walks, inquiry.unasked) == ((), ("pad",))
    assert origin.begin(pads, TOKENS[0], (), frozenset()).unasked == ()
