"""Protects evidence packs: a replay equals the recording on a real node."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.chain_quotes import ChainQuotes
from analysis.reads import storage_words
from analysis.replay.evidence_pack import (
    EvidencePack,
    EvidencePackError,
    RecordedCall,
    compress_pack,
    decode_pack,
    encode_pack,
)
from analysis.replay.fixed_analysis import NO_SUCH_METHOD
from analysis.replay.pack_signature import find_signer, sign_pack
from analysis.replay.record_pack import record_pack
from analysis.replay.replay_pack import check_pack, replay_pack
from analysis.token import deadline_state, owner_slots
from assay import cli
from assay.demo.embedded_chain import write_overlay
from core.process.secret import Secret
from tests.harness.chain.contexts import judge, with_chain, with_node
from tests.harness.chain.transactions import Chain
from tests.harness.launchpads.platforms import FLAT, STRANGER, Listing, pad_at
from tests.harness.node.faults import Hindered

KEY = Secret("0x" + "17" * 32)


async def recorded(chain: Chain, context: ChainContext, key: str) -> EvidencePack:
    return await record_pack(context, chain.world.token(key).address)


async def test_what_the_service_hands_out_is_signed_and_replays(
    chain: Chain, context: ChainContext
) -> None:
    quotes = ChainQuotes({"ethereum": context}, concurrency=1, signing_key=KEY)
    token = chain.world.token("sell_tax").address
    async with aclosing(quotes):
        first, second = await asyncio.gather(
            quotes.record_pack("ethereum", token), quotes.record_pack("ethereum", token)
        )
    assert first == second
    pack = decode_pack(first.body)
    assert (pack.block, find_signer(pack)) == (first.block, first.signer)
    assert first.signer is not None
    replay = await replay_pack(pack, context.node, context)
    assert replay.verdict == "equal", (replay.reason, replay.differing, replay.differences)


def with_call(pack: EvidencePack, at: int, call: RecordedCall) -> EvidencePack:
    calls = (*pack.calls[:at], call, *pack.calls[at + 1 :])
    return msgspec.structs.replace(pack, calls=calls)


def first_of(pack: EvidencePack, method: str) -> int:
    return next(at for at, call in enumerate(pack.calls) if call.method == method)


@pytest.mark.parametrize("key", ["honest", "sell_tax", "v3_honest", "v4_honest"])
async def test_a_pack_is_small_and_its_report_follows_from_its_calls(
    chain: Chain, context: ChainContext, key: str
) -> None:
    pack = await recorded(chain, context, key)
    file = compress_pack(encode_pack(pack))
    assert len(file) < 33_000
    replay = await replay_pack(decode_pack(file), context.node, context)
    assert replay.verdict == "equal", (replay.reason, replay.differing, replay.differences)
    assert replay.derived == pack.report
    usual = await judge(context, pack.report.token.address)
    assert [
        (pool.pool, pool.buy, pool.sell, pool.buy_tax, pool.sell_tax) for pool in usual.pools or ()
    ] == [
        (pool.pool, pool.buy, pool.sell, pool.buy_tax, pool.sell_tax)
        for pool in pack.report.pools or ()
    ]
    assert usual.static == pack.report.static


async def test_the_block_is_the_packs_when_the_chain_has_gone_on(
    chain: Chain, context: ChainContext
) -> None:
    # Of the block that tests begin with, the node may have dropped the state in an earlier one.
    chain.mine()
    pack = await recorded(chain, context, "honest")
    token = chain.world.token("honest")
    assert chain.transfer(token.address, token.holders[0], token.pool.address, 1).success
    chain.mine(3)
    replay = await replay_pack(pack, context.node, context)
    assert replay.verdict == "equal", (replay.reason, replay.differing, replay.differences)


async def test_a_read_that_takes_long_is_waited_for(
    chain: Chain, context: ChainContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the report would lack a part that its replay derives."""
    for module, name in (
        (deadline_state, "CLOCK_WAIT_S"),
        (owner_slots, "OWNER_SLOTS_WAIT_S"),
        (storage_words, "WAIT_S"),
    ):
        monkeypatch.setattr(module, name, 0)
    usual = await judge(context, chain.world.token("timebomb_stored").address)
    assert {limit.value for limit in usual.clock_limits} == {None}
    pack = await recorded(chain, context, "timebomb_stored")
    assert None not in {limit.value for limit in pack.report.clock_limits}
    replay = await replay_pack(pack, context.node, context)
    assert replay.verdict == "equal", (replay.reason, replay.differing, replay.differences)


async def test_a_list_of_a_platform_is_searched_and_searched_again(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.world.token("honest").address
    listing = Listing(chain.node)
    listing.hold(FLAT, token)
    facts = msgspec.structs.replace(context.chain, launchpads=(pad_at(listing.at),))
    known = with_chain(context, facts)
    pack = await record_pack(known, token)
    assert pack.report.token.launchpad_name == "pad"
    listing.hold(FLAT, STRANGER)
    replay = await replay_pack(pack, context.node, known)
    assert replay.verdict == "equal", (replay.reason, replay.differing, replay.differences)


@pytest.mark.parametrize(
    "method", ["eth_call", "eth_simulateV1", "eth_getCode", "eth_getStorageAt"]
)
async def test_an_answer_that_was_changed_is_found(
    chain: Chain, context: ChainContext, method: str
) -> None:
    pack = await recorded(chain, context, "honest")
    at = first_of(pack, method)
    answer = pack.calls[at].answer
    last = answer[-1]
    forged = (*answer[:-1], last[:-1] + ("0" if last[-1] != "0" else "1"))
    call = msgspec.structs.replace(pack.calls[at], answer=forged)
    replay = await replay_pack(with_call(pack, at, call), context.node, context)
    assert replay.verdict == "different"
    (found,) = replay.differing
    assert (found.index, found.status, found.recorded) == (at, "different", forged[-1])
    assert found.answered == last


async def test_a_report_that_does_not_follow_from_its_calls_is_found(
    chain: Chain, context: ChainContext
) -> None:
    pack = await recorded(chain, context, "sell_tax")
    (pool, *others) = pack.report.pools or ()
    pools = (msgspec.structs.replace(pool, sell_tax=0.0), *others)
    forged = msgspec.structs.replace(pack, report=msgspec.structs.replace(pack.report, pools=pools))
    replay = await replay_pack(forged, context.node, context)
    assert not replay.differing
    assert replay.verdict == "different"
    (difference,) = replay.differences
    assert difference.field == "pools.0.sell_tax"
    assert (difference.recorded, difference.derived) == (0.0, pool.sell_tax)


async def test_a_call_that_was_left_out_keeps_the_report_from_being_derived(
    chain: Chain, context: ChainContext
) -> None:
    pack = await recorded(chain, context, "honest")
    at = first_of(pack, "eth_simulateV1")
    shorter = msgspec.structs.replace(pack, calls=(*pack.calls[:at], *pack.calls[at + 1 :]))
    replay = await replay_pack(shorter, context.node, context)
    assert replay.verdict == "not_run"
    assert replay.derived is None
    assert "does not hold" in replay.reason


async def test_other_facts_of_the_chain_derive_nothing(chain: Chain, context: ChainContext) -> None:
    pack = await recorded(chain, context, "honest")
    other = with_chain(context, msgspec.structs.replace(context.chain, dexes=()))
    for where in (other, None):
        replay = await replay_pack(pack, context.node, where)
        assert not replay.differing
        assert replay.verdict == "not_run"


async def test_a_node_without_simulations_says_that_they_were_not_run(
    chain: Chain, context: ChainContext
) -> None:
    pack = await recorded(chain, context, "honest")
    node = Hindered(context.node, "eth_simulateV1", answer=NO_SUCH_METHOD)
    replay = await replay_pack(pack, node, context)
    assert replay.verdict != "equal"
    assert {(each.method, each.status) for each in replay.differing} == {
        ("eth_simulateV1", "not_run")
    }


async def test_a_pack_of_a_node_without_simulations_still_replays(
    chain: Chain, context: ChainContext
) -> None:
    node = Hindered(context.node, "eth_simulateV1", answer=NO_SUCH_METHOD)
    hindered = with_node(context, node)
    pack = await recorded(chain, hindered, "honest")
    assert (await replay_pack(pack, node, hindered)).verdict == "equal"


async def test_hostile_requests_are_refused_before_anything_is_sent(
    chain: Chain, context: ChainContext
) -> None:
    pack = await recorded(chain, context, "honest")
    check_pack(pack)
    at = first_of(pack, "eth_call")
    transaction, pin = pack.calls[at].params
    assert isinstance(transaction, dict)
    other = {"blockHash": "0x" + "1" * 64}
    hostile = [
        (transaction, other),
        (transaction, "latest"),
        (transaction | {"gas": hex(10**9)}, pin),
        (transaction | {"to": "0x12"}, pin),
        (transaction | {"data": "0xabc"}, pin),
        (transaction | {"data": "0x" + "00" * 2**19}, pin),
        (transaction | {"more": "0x"}, pin),
        (transaction, pin, {"0x12": {}}),
        (transaction, pin, {}, {}),
        (),
    ]
    silent = Hindered(context.node, "eth_call", answer=None)
    for params in hostile:
        forged = with_call(pack, at, msgspec.structs.replace(pack.calls[at], params=params))
        with pytest.raises(EvidencePackError):
            await replay_pack(forged, silent, context)
    with pytest.raises(EvidencePackError, match="twice"):
        check_pack(with_call(pack, at + 1, pack.calls[at]))


def run(*arguments: str, overlay: Path, url: str, key: str = "") -> Result:
    env = {"ASSAY_CONFIG": str(overlay), "ASSAY_RPC_1": url, "ASSAY_SIGNING_KEY": key}
    return CliRunner().invoke(cli.cli, arguments, env=env)


async def test_the_commands_record_sign_and_replay(chain: Chain, tmp_path: Path) -> None:
    overlay, file = tmp_path / "overlay", tmp_path / "token.pack.zst"
    overlay.mkdir()
    write_overlay(chain.world, overlay)
    address = chain.world.token("honest").address

    async def done(*arguments: str, key: str = "") -> Result:
        return await asyncio.to_thread(
            run, *arguments, overlay=overlay, url=chain.node.url, key=key
        )

    made = await done("record", "ethereum", address, str(file), key=KEY.value)
    assert made.exit_code == 0, made.output
    pack = decode_pack(file.read_bytes())
    assert pack.signature is not None
    assert pack.signature.signer in made.output
    assert KEY.value[2:] not in made.output

    same = await done("replay", str(file), "--rpc", chain.node.url)
    assert same.exit_code == 0, same.output
    assert f"signed by {pack.signature.signer}" in " ".join(same.output.split())

    at = first_of(pack, "eth_simulateV1")
    call = msgspec.structs.replace(pack.calls[at], answer=("ok 0x",))
    forged = with_call(pack, at, call)
    file.write_bytes(encode_pack(forged))
    changed = await done("replay", str(file))
    assert changed.exit_code == 2
    assert "does not fit" in changed.output
    file.write_bytes(encode_pack(sign_pack(forged, KEY)))
    found = await done("replay", str(file))
    assert found.exit_code == 1, found.output
    assert "different" in found.output

    nobody = await done("replay", str(file), "--rpc", "http://127.0.0.1:9")
    assert nobody.exit_code == 2
