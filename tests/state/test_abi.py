"""Answers of contracts: refusals and faults stay apart, and bulk words are those stored."""

import msgspec
import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from analysis.market.venues.state.uniswap_v4_state import liquidity_slot
from analysis.pipeline.chain_context import ChainContext
from analysis.reads.answer_address import address_in
from analysis.reads.bulk_words import BalanceRead, BulkRead, WordsRead, fetch_bulk
from analysis.reads.chain_reads import AnswerAddress, Handle, call_of, source_of, with_address
from analysis.reads.eth_reads import (
    TEXT_LIMIT,
    NoAnswer,
    Reply,
    decode_address,
    decode_text,
    decode_uint,
    read_code,
    read_reply,
    read_word,
)
from analysis.reads.rpc_reads import read_request
from assay.demo.layout import World, named_account
from config.facts.chain import Chain as ChainFacts
from core.errors import UpstreamError
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32, to_hash32
from core.rpc.messages import RpcFault
from tests.harness.chain.transactions import Chain
from tests.harness.node.counting import CountingNode
from tests.harness.node.faults import NO_CODE, UNKNOWN_PARAMETER, WithoutCodeOverrides

TOKEN = Address("0x" + "11" * 20)

BLOCK = Hash32("0x" + "22" * 32)

REFUSALS = [
    (3, "execution reverted"),
    (3, "execution reverted: custom error 0x00000000"),
    (-32000, "execution reverted"),
    (-32000, "out of gas"),
    (-32000, "invalid opcode: INVALID"),
    (-32000, "invalid opcode: opcode 0xc not defined"),
    (-32000, "invalid jump destination"),
    (-32000, "stack underflow (0 <=> 2)"),
    (-32000, "stack limit reached 1024 (1023)"),
    (-32000, "gas uint64 overflow"),
    (-32000, "return data out of bounds"),
    (-32000, "write protection"),
    (-32000, "max call depth exceeded"),
    (-32000, "VM Exception while processing transaction: revert"),
    (-32003, "out of gas: gas exhausted during memory expansion: 15000000"),
    (-32003, "EVM error: InvalidFEOpcode"),
    (-32003, "stack underflow"),
    (-32015, "VM execution error."),
    (-32603, "EVM error OutOfGas"),
    (-32603, "EVM error OpcodeNotFound"),
    (-32603, "EVM error InvalidJump"),
    (-32603, "EVM error StackOverflow"),
    (-32603, "EVM error OutOfOffset"),
    (-32603, "EVM error MemoryOOG"),
]

FAULTS = [
    (-32000, "header not found"),
    (-32000, "missing trie node 12ab (path )"),
    (-32000, "execution aborted (timeout = 5s)"),
    (-32000, "intrinsic gas too high -- CallGasCostMoreThanGasLimit"),
    (-32000, "hash 0x22 is not currently canonical"),
    (-32001, "Resource not found"),
    (-32005, "daily request count exceeded, request rate limited"),
    (-32601, "the method eth_call does not exist/is not available"),
    (-32603, "Internal error"),
    (-32603, "EVM error Database"),
]


@pytest.mark.parametrize(("code", "message"), REFUSALS)
def test_the_contracts_doing_is_no_answer(code: int, message: str) -> None:
    assert read_reply(RpcFault(code=code, message=message)) == NoAnswer(reason=message)


@pytest.mark.parametrize(("code", "message"), FAULTS)
def test_the_nodes_doing_is_raised(code: int, message: str) -> None:
    with pytest.raises(UpstreamError, match="code"):
        read_reply(RpcFault(code=code, message=message))


def test_no_read_of_state_can_be_refused_by_a_contract() -> None:
    fault = RpcFault(code=3, message="execution reverted")
    for read in (read_code, read_word):
        with pytest.raises(UpstreamError):
            read(fault)


@pytest.mark.parametrize("answer", [b"null", b"7", b'"0xzz"', b'"0x123"', b"{"])
def test_nonsense_from_a_node_is_its_fault(answer: bytes) -> None:
    with pytest.raises(UpstreamError):
        read_reply(msgspec.Raw(answer))


def test_reads_are_pinned_to_a_block_hash_and_bounded_in_gas() -> None:
    request = read_request(call_of(TOKEN, "balanceOf(address)", TOKEN), block=BLOCK)
    transaction, pin = request.params
    assert pin == {"blockHash": BLOCK}
    assert transaction == {
        "to": TOKEN,
        "data": "0x70a08231" + "0" * 24 + "11" * 20,
        "gas": "0xe4e1c0",
    }


def test_an_argument_of_an_earlier_answer_is_put_in_where_it_belongs() -> None:
    known, found = "transferFrom(address,address,uint256)", Address("0x" + "33" * 20)
    earlier = AnswerAddress(Handle(4, decode_address))
    read = call_of(TOKEN, known, TOKEN, earlier, 7)
    assert source_of(read) == earlier
    assert with_address(read, found) == call_of(TOKEN, known, TOKEN, found, 7)
    to = call_of(earlier, known, TOKEN, TOKEN, 7)
    assert (source_of(to), with_address(to, TOKEN)) == (
        earlier,
        call_of(TOKEN, known, TOKEN, TOKEN, 7),
    )


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=400))
def test_a_string_is_read_back_up_to_the_limit(text: str) -> None:
    assert decode_text(encode(["string"], [text])) == text[:TEXT_LIMIT]


@given(st.binary(max_size=300))
def test_any_bytes_of_a_string_become_text_without_nuls(raw: bytes) -> None:
    text = decode_text(encode(["bytes"], [raw]))
    assert text is not None
    assert "\0" not in text
    assert len(text) <= TEXT_LIMIT
    text.encode()  # no lone surrogates: it can go into JSON


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=8))
def test_a_bytes32_is_text_without_its_padding(text: str) -> None:
    assert decode_text(text.encode().ljust(32, b"\0")) == text


@given(st.binary(max_size=200))
def test_no_reply_can_break_decoding(data: bytes) -> None:
    text = decode_text(data)
    assert text is None or len(text) <= TEXT_LIMIT


@pytest.mark.parametrize(
    ("offset", "length", "tail"),
    [
        (2**256 - 1, 0, 0),
        (2**255, 4, 32),
        (32, 2**256 - 1, 32),
        (32, 2**64, 32),
        (32, 33, 32),
        (65, 0, 0),
    ],
)
def test_an_offset_or_length_beyond_the_reply_is_no_text(
    offset: int, length: int, tail: int
) -> None:
    assert decode_text(offset.to_bytes(32) + length.to_bytes(32) + bytes(tail)) is None


def test_a_megabyte_is_cut() -> None:
    assert decode_text(encode(["string"], ["x" * 2**20])) == "x" * TEXT_LIMIT


def test_bytes_that_are_no_utf_8_are_replaced() -> None:
    assert decode_text(b"A\xffB".ljust(32, b"\0")) == "A\ufffdB"


@pytest.mark.parametrize(
    ("reply", "number", "address"),
    [
        (b"", None, None),
        (bytes(31), None, None),
        (NoAnswer(reason="execution reverted"), None, None),
        (bytes(32), 0, "0x" + "00" * 20),
        ((1).to_bytes(32) + b"more", 1, "0x" + "00" * 19 + "01"),
        ((2**160).to_bytes(32), 2**160, None),
    ],
)
def test_single_words(reply: bytes | NoAnswer, number: int | None, address: str | None) -> None:
    assert decode_uint(reply) == number
    assert decode_address(reply) == address


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (bytes(32) + bytes.fromhex("ab" * 20).rjust(32, b"\0"), "0x" + "ab" * 20),
        (bytes.fromhex("ab" * 20).rjust(32, b"\0") + bytes(32), None),  # zero is no address
        (bytes.fromhex("ab" * 20).rjust(32, b"\0"), None),
        (bytes(32) + b"\1" * 32, None),
        (NoAnswer(reason="reverted"), None),
    ],
)
def test_a_call_says_which_word_of_its_answer_is_the_address(
    answer: Reply, found: str | None
) -> None:
    call = msgspec.structs.replace(call_of(ZERO_ADDRESS, "pair()"), address_word=1)
    assert address_in(call, answer) == found


# --- bulk words ---------------------------------------------------------------------------------

SLOTS = 12


def slots_of(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(32) for number in numbers)


def stored(chain: Chain, contract: Address, slots: bytes) -> bytes:
    """Read slots by the node's own method, one by one."""
    words = [
        chain.node.rpc("eth_getStorageAt", contract, "0x" + slots[at : at + 32].hex(), "latest")
        for at in range(0, len(slots), 32)
    ]
    return b"".join(bytes.fromhex(str(word)[2:]).rjust(32, b"\0") for word in words)


def reads_of(world: World, facts: ChainFacts) -> list[BulkRead]:
    """Return reads of words of every token of the zoo, of an account without code, and of pools."""
    reads: list[BulkRead] = [
        WordsRead(contract=token.address, slots=slots_of(*range(SLOTS))) for token in world.tokens
    ]
    reads.append(WordsRead(contract=named_account("nobody"), slots=slots_of(0, 2**256 - 1)))
    for token in world.tokens:
        pool = token.pool
        if pool.pool_id is not None:
            (dex,) = (dex for dex in facts.dexes if dex.name == pool.dex)
            slot = liquidity_slot(pool.pool_id, dex)
            reads.append(WordsRead(contract=dex.factory, slots=slot))
        elif pool.quote != ZERO_ADDRESS:
            reads.append(BalanceRead(token=pool.quote, account=pool.address))
    return reads


def expected(chain: Chain, read: BulkRead) -> bytes:
    if isinstance(read, WordsRead):
        return stored(chain, read.contract, read.slots)
    return chain.balance(read.token, read.account).to_bytes(32)


async def test_words_and_balances_are_those_that_are_stored(
    chain: Chain, context: ChainContext, facts: ChainFacts, demo_world: World
) -> None:
    reads = reads_of(demo_world, facts)
    assert any(isinstance(read, BalanceRead) for read in reads)
    node = CountingNode(context.node)
    head = await context.node.fetch_head()
    found = await fetch_bulk(node, reads, block=head.hash)
    assert found == [expected(chain, read) for read in reads]
    assert node.calls == 2
    pools = zip(
        reads[len(demo_world.tokens) + 1 :], found[len(demo_world.tokens) + 1 :], strict=True
    )
    assert all(word and int.from_bytes(word) > 0 for _, word in pools)


@pytest.mark.parametrize("answer", [UNKNOWN_PARAMETER, NO_CODE])
async def test_a_node_that_replaces_no_code_is_asked_one_by_one(
    chain: Chain, context: ChainContext, facts: ChainFacts, demo_world: World, answer: RpcFault
) -> None:
    """As far as that is affordable; the rest is unknown."""
    reads = reads_of(demo_world, facts)
    head = await context.node.fetch_head()
    node = WithoutCodeOverrides(context.node, answer)
    found = await fetch_bulk(node, reads, block=head.hash)
    assert found[:20] == [expected(chain, read) for read in reads[:20]]
    assert found[-1] is None


async def test_a_block_that_the_node_does_not_have_is_unknown(context: ChainContext) -> None:
    reads = [BalanceRead(token=named_account("a"), account=named_account("b"))]
    assert await fetch_bulk(context.node, reads, block=to_hash32(1)) == [None]
