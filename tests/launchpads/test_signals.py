"""Precedence of signals: each alone, against the others, and when the node fails."""

from collections.abc import Callable, Mapping

import msgspec
import pytest

from analysis.launchpads.verdict import UNNAMED
from config.facts.launchpad import CreationEvent, Launchpad, Registry
from core.evm.keccak import keccak
from core.evm.primitives import Address, RawAmount
from core.report.rows import LaunchRow
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.launchpads.issuer_search import (
    METADATA,
    REFUSAL,
    REVERT,
    called,
    conclude,
    log_answer,
)
from tests.harness.launchpads.platforms import CHAINS, other_address, word

TOKEN = Address(other_address("token")[:-4] + "4444")
FACTORY, HUB = other_address("factory"), other_address("hub")
IMPLEMENTATION = other_address("implementation")
CLONE = bytes.fromhex(f"363d3d373d3d3d363d73{IMPLEMENTATION[2:]}5af43d82803e903d91602b57fd5bf3")
EVENT = CreationEvent(
    declared="Made(address indexed token,address by)", token="token", creator="by"
)
REGISTRY = Registry(read="made(address)", words=2, token_word=0)
ZEROS = log_answer("0x" + "0" * 128)
KNOWN = log_answer("0x" + word(TOKEN) + word("0x1"))
NOTHING = log_answer("0x")
NO_LOGS = msgspec.Raw(b"[]")


def pad(slug: str = "pad", **changes: object) -> Launchpad:
    plain = Launchpad(slug=slug, kind="direct", contracts=(FACTORY,), event=(EVENT,))
    return msgspec.structs.replace(plain, **changes)


def node(
    calls: Mapping[Address, RpcAnswer], *, logs: RpcAnswer = NO_LOGS
) -> Callable[[RpcRequest], RpcAnswer]:
    """Build a node that answers by callee; any other address is no contract."""

    def answer(request: RpcRequest) -> RpcAnswer:
        if request.method == "eth_getLogs":
            return logs
        return calls.get(Address(called(request)[0]), NOTHING)

    return answer


def row(slug: str = "pad", emitter: Address = FACTORY) -> LaunchRow:
    return LaunchRow(
        chain_id=1,
        token=TOKEN,
        slug=slug,
        emitter=emitter,
        creator=None,
        tx_hash=None,
        block_number=1,
        log_index=0,
    )


def log(emitter: Address, token: Address = TOKEN) -> msgspec.Raw:
    topics = [EVENT.topic, "0x" + word(token)]
    return msgspec.Raw(
        msgspec.json.encode([{"address": emitter, "topics": topics, "blockNumber": "0x7"}])
    )


# --- each signal alone ---------------------------------------------------------------------------


def test_an_indexed_event_needs_no_read_at_all() -> None:
    def nobody(request: RpcRequest) -> RpcAnswer:
        raise AssertionError(request)

    origin = conclude([pad(), pad("other", registry=(REGISTRY,))], TOKEN, nobody, launches=[row()])
    assert (origin.name, origin.signal, origin.issuer) == ("pad", "event", FACTORY)


def test_an_event_from_memory_keeps_nobody_else_from_being_asked() -> None:
    remembered = pad("remembered", contracts=(HUB,), registry=(REGISTRY,), confidence="recalled")
    answer = node({HUB: ZEROS, FACTORY: KNOWN})
    seen = [row("remembered", HUB)]
    assert conclude([remembered], TOKEN, answer, launches=seen).is_launchpad is False
    both = [remembered, pad(registry=(REGISTRY,))]
    assert conclude(both, TOKEN, answer, launches=seen).name == "pad"


@pytest.mark.parametrize("bad", [row("gone"), row(emitter=HUB)])
def test_an_indexed_event_of_who_is_not_configured_is_nothing(bad: LaunchRow) -> None:
    assert conclude([pad()], TOKEN, node({}), launches=[bad]).is_launchpad is False


def test_a_searched_event_counts_by_its_emitter_and_its_token() -> None:
    found = conclude([pad()], TOKEN, node({}, logs=log(FACTORY)))
    assert (found.name, found.signal) == ("pad", "event")
    for wrong in (log(HUB), log(FACTORY, HUB)):
        assert conclude([pad()], TOKEN, node({}, logs=wrong)).is_launchpad is False


def test_a_platform_that_is_wholly_indexed_is_not_searched_for() -> None:
    one = pad()
    refusing = node({}, logs=REFUSAL)
    assert conclude([one], TOKEN, refusing).is_launchpad is None
    assert conclude([one], TOKEN, refusing, covered=frozenset({one.subject})).is_launchpad is False


def test_a_registry_names_the_platform() -> None:
    origin = conclude([pad(registry=(REGISTRY,))], TOKEN, node({FACTORY: KNOWN}))
    assert (origin.name, origin.signal, origin.issuer) == ("pad", "registry", FACTORY)


@pytest.mark.parametrize(
    "answer",
    [
        ZEROS,
        NOTHING,
        REVERT,
        log_answer("0x" + word(HUB) + word("0x1")),
        log_answer("0x" + word(TOKEN)),
    ],
    ids=["zeros", "no contract", "revert", "another token's", "too short"],
)
def test_a_registry_that_does_not_know_the_token(answer: RpcAnswer) -> None:
    assert (
        conclude([pad(registry=(REGISTRY,))], TOKEN, node({FACTORY: answer})).is_launchpad is False
    )


def test_the_first_platform_in_the_file_names_a_token_that_two_know() -> None:
    both = [pad("front", contracts=(HUB,)), pad("back", registry=(REGISTRY,))]
    seen = [row("back"), row("front", HUB)]
    assert conclude(both, TOKEN, node({FACTORY: KNOWN}), launches=seen).name == "front"


def test_a_clone_names_the_platform_unless_its_registry_denies() -> None:
    one = pad(registry=(REGISTRY,), clones_of=(IMPLEMENTATION,))
    for silent in (NOTHING, REVERT):
        origin = conclude([one], TOKEN, node({FACTORY: silent}), code=CLONE)
        assert (origin.name, origin.signal) == ("pad", "code")
    assert conclude([one], TOKEN, node({FACTORY: ZEROS}), code=CLONE).is_launchpad is False
    other = CLONE.replace(bytes.fromhex(IMPLEMENTATION[2:]), bytes.fromhex(HUB[2:]))
    assert conclude([one], TOKEN, node({}), code=other).is_launchpad is False


def test_the_very_code_of_a_platform_names_it() -> None:
    code = bytes.fromhex("6080604052" + "5b" * 300)
    one = pad(code_hashes=("0x" + keccak(code).hex(),))
    assert conclude([one], TOKEN, node({}), code=code).name == "pad"
    assert conclude([one], TOKEN, node({}), code=code + b"\x00").is_launchpad is False


# --- answers of the token itself -----------------------------------------------------------------


def claiming(issuer: Address) -> RpcAnswer:
    return log_answer("0x" + word(issuer))


def test_an_issuer_that_is_not_configured_has_to_confirm_the_token() -> None:
    one = pad(registry=(REGISTRY,), getter="issuer()")
    own_record = {"0x" + word(TOKEN)[-40:]: KNOWN}

    def answer(request: RpcRequest) -> RpcAnswer:
        to, data = called(request)
        if to == HUB:
            return own_record.get("0x" + data[-40:], ZEROS)
        return {TOKEN: claiming(HUB), FACTORY: ZEROS}.get(Address(to), msgspec.Raw(b"[]"))

    origin = conclude([one], TOKEN, answer)
    assert (origin.name, origin.signal, origin.issuer) == (UNNAMED, "getter", HUB)


@pytest.mark.parametrize(
    "word_of_hub",
    [ZEROS, NOTHING, REVERT, KNOWN],
    ids=["denies", "no contract", "reverts", "says so of everything"],
)
def test_an_issuer_that_does_not_confirm_is_nobody(word_of_hub: RpcAnswer) -> None:
    one = pad(registry=(REGISTRY,), getter="issuer()")
    answers = {TOKEN: claiming(HUB), FACTORY: ZEROS, HUB: word_of_hub}
    assert conclude([one], TOKEN, node(answers)).is_launchpad is False


@pytest.mark.parametrize("named", [FACTORY, TOKEN, Address("0x" + "0" * 40)])
def test_naming_a_platform_is_no_proof(named: Address) -> None:
    one = pad(registry=(REGISTRY,), getter="issuer()")
    answers = {TOKEN: claiming(named), FACTORY: ZEROS}
    assert conclude([one], TOKEN, node(answers)).is_launchpad is False


def test_a_platform_that_only_the_index_can_see_is_named_where_it_has_not_looked() -> None:
    in_data = CreationEvent(declared="Made(address token)", token="token")
    hidden = pad("hidden", event=(in_data,))
    blind = conclude([hidden, pad()], TOKEN, node({}))
    assert (blind.is_launchpad, blind.unasked) == (False, ("hidden",))
    assert "hidden" in blind.evidence.body
    assert conclude([hidden], TOKEN, node({}), covered=frozenset({hidden.subject})).unasked == ()
    seen = msgspec.structs.replace(hidden, registry=(REGISTRY,))
    assert conclude([seen], TOKEN, node({})).unasked == ()


# --- the address, last ---------------------------------------------------------------------------


def test_the_address_counts_for_what_looks_graduated_only() -> None:
    one = pad(suffixes=("4444",), registry=(REGISTRY,))
    origin = conclude([one], TOKEN, node({}))
    assert (origin.name, origin.signal) == ("pad", "address")
    assert conclude([one], TOKEN, node({}), has_pool=False).is_launchpad is False
    assert conclude([one], TOKEN, node({FACTORY: ZEROS})).is_launchpad is False
    assert conclude([one], HUB, node({})).is_launchpad is False
    for changes in ({"decimals": 9}, {"supply_raw": RawAmount(10**27 + 1)}):
        other = msgspec.structs.replace(METADATA, **changes)
        assert conclude([one], TOKEN, node({}), metadata=other).is_launchpad is False


def test_only_chain_56_knows_platforms_by_their_addresses() -> None:
    assert {chain.id for chain in CHAINS.values() for pad in chain.launchpads if pad.suffixes} == {
        56
    }


# --- memory and failures -------------------------------------------------------------------------

VAGUE = Registry(read="made(address)")
"""Registry for which any non-zero word means yes."""


def test_a_registry_that_knows_everything_is_not_believed() -> None:
    """Without a known record the registry is also queried about itself."""
    remembered = msgspec.structs.replace(REGISTRY, confidence="recalled")
    for one in (pad(registry=(VAGUE,)), pad(registry=(remembered,))):
        assert conclude([one], TOKEN, node({FACTORY: KNOWN})).is_launchpad is False

        def honest(request: RpcRequest) -> RpcAnswer:
            asked_about = called(request)[1][-40:]
            return KNOWN if asked_about == TOKEN[2:] else ZEROS

        assert conclude([one], TOKEN, honest).name == "pad"


@pytest.mark.parametrize("refused", [REFUSAL, RpcFault(code=-32000, message="header not found")])
def test_a_registry_that_the_node_kept_from_us_is_no_no(refused: RpcFault) -> None:
    pads = [pad(registry=(REGISTRY,)), pad("other", contracts=(HUB,), registry=(REGISTRY,))]
    lost = conclude(pads, TOKEN, node({FACTORY: refused, HUB: ZEROS}))
    assert (lost.is_launchpad, lost.name, lost.unread) == (None, None, ("pad: made(address)",))
    assert "made(address)" in lost.evidence.body
    named = conclude(pads, TOKEN, node({FACTORY: refused, HUB: KNOWN}))
    assert (named.is_launchpad, named.name) == (True, "other")


def test_a_claim_that_could_not_be_checked_is_no_no() -> None:
    one = pad(registry=(REGISTRY,), getter="issuer()")
    unasked = {TOKEN: claiming(HUB), FACTORY: ZEROS, HUB: REFUSAL}
    assert conclude([one], TOKEN, node(unasked)).is_launchpad is None
    unclaimed: dict[Address, RpcAnswer] = {TOKEN: REFUSAL, FACTORY: ZEROS}
    assert conclude([one], TOKEN, node(unclaimed)).is_launchpad is None


def test_an_address_is_not_taken_for_a_refused_registry() -> None:
    one = pad(suffixes=("4444",), registry=(REGISTRY,))
    assert conclude([one], TOKEN, node({FACTORY: REFUSAL})).is_launchpad is None


def test_logs_that_are_no_logs_are_not_read() -> None:
    for garbage in (msgspec.Raw(b'{"a":1}'), msgspec.Raw(b'"0x"'), REFUSAL):
        assert conclude([pad()], TOKEN, node({}, logs=garbage)).is_launchpad is None
