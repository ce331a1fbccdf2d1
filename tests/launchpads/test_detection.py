"""Every researched platform is recognised on a real node, also one that lists tokens by number."""

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
from assay.service.store_adapter import ReportStore
from config.facts.chain import Chain
from config.facts.launchpad import Launchpad
from config.settings import AnalysisSettings, IndexerSettings, RpcSettings
from core.evm.primitives import Address
from core.report.rows import LaunchRow
from core.rpc.client import RpcClient
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from indexer.history.backfill import backfill
from sql.engine.store import MEMORY, Store
from tests.harness.launchpads.issuer_search import REFUSAL, ask, conclude
from tests.harness.launchpads.platforms import (
    CATALOGUES,
    CHAINS,
    EVENTS,
    FLAT,
    LIST,
    REGISTRIES,
    STRANGER,
    Announced,
    Listing,
    Recorded,
    other_address,
    pad_at,
)

pytestmark = [pytest.mark.compiler, pytest.mark.process]


class Here:
    """The platforms of one chain, each contract played by a recorder at its own address."""

    def __init__(self, node: AnvilNode, public: Chain) -> None:
        self.node = node
        self.events = [one for one in EVENTS if one.chain == public.id]
        self.registries = [one for one in REGISTRIES if one.chain == public.id]
        self.catalogues = [one for one in CATALOGUES if one.chain == public.id]
        # Heights of the public chain are out of reach here.
        pads = [msgspec.structs.replace(pad, from_block=None) for pad in public.launchpads]
        self.chain = msgspec.structs.replace(
            public, id=node.chain_id, launchpads=tuple(pads), finality_blocks=0
        )
        self._sender = node.accounts()[0]
        self._pipeline = Pipeline(node, load_artifacts())
        self._place_recorders()

    @property
    def pads(self) -> tuple[Launchpad, ...]:
        return self.chain.launchpads

    def announce(self, event: Announced, emitter: Address, token: Address) -> None:
        """Queue the event of a launch."""
        topics, data = event.log(token)
        raw = [bytes.fromhex(topic[2:]) for topic in topics]
        self._call(emitter, "announce(bytes32[],bytes)", raw, bytes.fromhex(data[2:]))

    def record(self, registry: Recorded, at: Address, token: Address) -> None:
        """Queue an entry in the registry."""
        self.answer(at, registry.question(token), registry.answer(token))

    def answer(self, at: Address, question: str, answer: str) -> None:
        """Queue the contract's answer to this calldata."""
        self._call(
            at, "record(bytes,bytes)", bytes.fromhex(question[2:]), bytes.fromhex(answer[2:])
        )

    def flush(self) -> None:
        """Mine queued answers."""
        self._pipeline.flush()

    def _place_recorders(self) -> None:
        made = self._pipeline.deploy("Recorder", sender=self._sender)
        self._pipeline.flush()
        code = self.node.rpc("eth_getCode", made, "latest")
        everybody = {emitter for event in self.events for emitter in event.emitters}
        everybody |= {at for registry in self.registries for at in registry.at}
        everybody |= {catalogue.at for catalogue in self.catalogues}
        self.node.rpc_batch([RpcRequest("anvil_setCode", (one, code)) for one in sorted(everybody)])
        for registry in self.registries:
            unknown = registry.unknown_answer
            answer = bytes.fromhex((unknown or "0x")[2:])
            for at in registry.at:
                self._call(at, "recordUnknown(bytes,bool)", answer, unknown is None)
        self.flush()

    def _call(self, to: Address, signature: str, *values: object) -> None:
        self._pipeline.call(to, signature, *values, sender=self._sender)


@pytest.fixture(scope="module")
def anvil() -> Iterator[AnvilNode]:
    with AnvilNode() as node:
        yield node


@pytest.fixture(params=sorted(CHAINS))
def here(request: pytest.FixtureRequest, anvil: AnvilNode) -> Iterator[Here]:
    snapshot = anvil.snapshot()
    yield Here(anvil, CHAINS[request.param])
    anvil.revert(snapshot)


@pytest.fixture
async def client(anvil: AnvilNode) -> AsyncIterator[RpcClient]:
    client = await RpcClient.connect((anvil.url,), anvil.chain_id, RpcSettings())
    yield client
    await client.aclose()


async def test_an_event_that_is_indexed(here: Here, client: RpcClient) -> None:
    launched = {
        other_address((event.topic0, emitter)): (event, emitter)
        for event in here.events
        for emitter in event.emitters
    }
    for token, (event, emitter) in launched.items():
        here.announce(event, emitter, token)
    here.flush()

    store = Store.open(MEMORY)
    pin = await client.fetch_head()
    chain = msgspec.structs.replace(here.chain, finality_blocks=0)
    await backfill(chain, client, store, IndexerSettings(), from_block=0, to_block=pin.number)
    report_store = ReportStore(store, AnalysisSettings())
    wrong = {}
    for token, (event, emitter) in launched.items():
        known = await report_store.known(here.chain, token, (), pin)
        assert {row.emitter for row in known.launches} == {emitter}
        detected = await ask(
            client, here.pads, token, launches=known.launches, covered=known.covered_launches
        )
        expected = (None, False) if event.needs_registry else (event.platform, True)
        if (detected.name, detected.is_launchpad) != expected:
            wrong[event.platform] = detected
    assert not wrong
    stranger = await report_store.known(here.chain, other_address("stranger"), (), pin)
    assert stranger.launches == ()
    assert stranger.covered_launches == {pad.subject for pad in here.pads if pad.event}


async def test_an_event_that_is_not_indexed_is_searched_for(here: Here, client: RpcClient) -> None:
    """The token is a topic, and no registry exists."""
    silent = {one.platform for one in here.registries}
    searched = [
        (event, emitter)
        for event in here.events
        if event.token.startswith("topic") and event.platform not in silent
        for emitter in event.emitters
    ]
    for event, emitter in searched:
        here.announce(event, emitter, other_address((event.topic0, emitter)))
    here.flush()
    for event, emitter in searched:
        detected = await ask(client, here.pads, other_address((event.topic0, emitter)))
        assert (detected.name, detected.signal) == (event.platform, "event")
        assert detected.issuer == emitter


async def test_a_registry_that_knows_the_token(here: Here, client: RpcClient) -> None:
    listed = [(registry, at) for registry in here.registries for at in registry.at]
    for registry, at in listed:
        here.record(registry, at, other_address((registry.selector, at)))
    here.flush()
    for registry, at in listed:
        detected = await ask(client, here.pads, other_address((registry.selector, at)))
        assert (detected.name, detected.signal, detected.issuer) == (
            registry.platform,
            "registry",
            at,
        )


async def test_a_list_that_names_the_token(here: Here, client: RpcClient) -> None:
    for catalogue in here.catalogues:
        names = [other_address((catalogue.at, number)) for number in range(5)]
        for question, answer in catalogue.answers(*names).items():
            here.answer(catalogue.at, question, answer)
        here.flush()
        for token in names:
            detected = await ask(client, here.pads, token)
            assert (detected.name, detected.signal, detected.issuer) == (
                catalogue.platform,
                "registry",
                catalogue.at,
            )
        ordinary = await ask(client, here.pads, other_address("stranger"))
        assert (ordinary.is_launchpad, ordinary.unread) == (False, ())
        assert catalogue.platform not in ordinary.unasked


async def test_a_token_of_nobody_is_nobodys(here: Here, client: RpcClient) -> None:
    detected = await ask(client, here.pads, other_address("stranger"))
    assert (detected.is_launchpad, detected.name, detected.unread) == (False, None, ())


async def test_an_event_from_memory_counts_with_its_registrys_word(
    anvil: AnvilNode, client: RpcClient
) -> None:
    snapshot = anvil.snapshot()
    here = Here(anvil, CHAINS[8453])
    event = next(one for one in here.events if one.needs_registry)
    emitter = event.emitters[0]
    registry = next(one for one in here.registries if emitter in one.at)
    token = other_address("remembered")
    row = LaunchRow(
        chain_id=here.chain.id,
        token=token,
        slug=event.platform,
        emitter=emitter,
        creator=None,
        tx_hash=None,
        block_number=1,
        log_index=0,
    )
    assert (await ask(client, here.pads, token, launches=[row])).is_launchpad is False
    here.record(registry, emitter, token)
    here.flush()
    detected = await ask(client, here.pads, token, launches=[row])
    anvil.revert(snapshot)
    assert (detected.name, detected.signal) == (event.platform, "event")


# --- catalogues ---------------------------------------------------------------------------------

TOKENS = [other_address(("token", number)) for number in range(5)]


@pytest.fixture
def listing(anvil: AnvilNode) -> Listing:
    return Listing(anvil)


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
