"""Lists that can only be asked by number are walked on the node; what is not seen is not denied."""

from collections.abc import AsyncIterator, Iterator

import msgspec
import pytest

from analysis.launchpads import origin
from analysis.launchpads.catalogues import CatalogueRead, CatalogueSearch
from analysis.launchpads.verdict import IssuerOrigin
from analysis.reads.read_batch import ReadBatch
from assay.demo.anvil import AnvilNode
from assay.demo.compile import load_artifacts
from assay.demo.transaction_pipeline import Pipeline
from config.launchpads import Catalogue, Launchpad
from config.settings_model import RpcSettings
from core.evm.abi import selector_of
from core.evm.primitives import Address
from core.rpc.client import RpcClient
from core.rpc.messages import RpcAnswer, RpcFault
from tests.harness.launchpads.issuer_search import REFUSAL, conclude
from tests.harness.launchpads.platforms import Catalogued, other_address

pytestmark = [pytest.mark.compiler, pytest.mark.process]

TOKENS = [other_address(("token", number)) for number in range(5)]
STRANGER = other_address("stranger")
LIST = Catalogue(count="length()", entry="entries(uint256)", token_word=2)
FLAT = "A A T A e0 120 6a000000"
"""An entry as several values. As a struct it opens with an offset."""


class Listing:
    """A contract of ours that answers like a list."""

    def __init__(self, node: AnvilNode) -> None:
        self._sender = node.accounts()[0]
        self._pipeline = Pipeline(node, load_artifacts())
        self.at = self._pipeline.deploy("Recorder", sender=self._sender)
        self.say("recordUnknown(bytes,bool)", b"", True)

    def say(self, signature: str, *values: object) -> None:
        self._pipeline.call(self.at, signature, *values, sender=self._sender)
        self._pipeline.flush()

    def hold(self, entry: str, *tokens: Address, count: int | None = None) -> None:
        """The tokens from number 0 on; `count` None: as many as they are."""
        catalogued = Catalogued(
            chain=1,
            platform="pad",
            count=selector_of(LIST.count),
            entry=selector_of(LIST.entry),
            at=self.at,
            record=entry,
        ).answers(*tokens)
        if count is not None:
            catalogued[selector_of(LIST.count)] = f"0x{count:064x}"
        for question, answer in catalogued.items():
            self.say("record(bytes,bytes)", bytes.fromhex(question[2:]), bytes.fromhex(answer[2:]))


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


def pad_at(at: Address) -> Launchpad:
    return Launchpad(slug="pad", kind="curve", contracts=(at,), catalogue=LIST)


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
