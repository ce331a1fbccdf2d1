"""Protects stored answers in a whole analysis: used for every clone, replaced on `redecompile`."""

from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import ChainScanner
from analysis.pipeline.store_adapter import ReportStore
from analysis.static import result_cache as module
from analysis.static.analyse_code import CodeAnalysis, analyse_code
from analysis.static.engine_version import analysis_version
from analysis.static.evm.disassembly import hash_of, strip_metadata
from analysis.static.result_cache import StaticResultCache
from core.abi import call_data
from core.primitives import Address
from core.report import StaticFindings
from demo.anvil import AnvilNode
from demo.compile import compile_runtime
from demo.layout import named_account
from harness.chain.verbs import Chain
from sql.codes import read_found, write_found
from sql.store import Store

FRONTS = {
    "EIP-1167": "363d3d373d3d3d363d73{}5af43d82803e903d91602b57fd5bf3",
    "EIP-7511": "365f5f375f5f365f73{}5af43d5f5f3e5f3d91602a57fd5bf3",
    "with arguments behind it": "363d3d373d3d3d363d73{}5af43d82803e903d91602b57fd5bf3" + "11" * 60,
}


def put(node: AnvilNode, code: str) -> Address:
    """A clone of the zoo's honest token: nothing in its storage, and all of its code."""
    address = named_account(f"clone {code}")
    node.rpc("anvil_setCode", address, "0x" + code)
    # what the gate asks for is constant in that token
    node.mine()
    return address


async def static_of(
    context: ChainContext, store: Store, token: Address, *, redecompile: bool = False
) -> StaticFindings:
    """By a service that has just been started."""
    restarted = ChainContext(
        chain=context.chain,
        node=context.node,
        knowledge=context.knowledge,
        settings=context.settings,
        now_s=context.now_s,
        examiner=StaticResultCache(ReportStore(store)),
    )
    scanner = ChainScanner(restarted)
    *_, report = [each async for each in scanner.scan(token, redecompile=redecompile)]
    return report.static


async def test_clones_share_one_row_and_redecompile_replaces_it(
    chain: Chain, context: ChainContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(Path(":memory:"))
    target = chain.world.token("mintable").address
    code = bytes.fromhex(str(chain.node.rpc("eth_getCode", target, "latest"))[2:])
    done: list[bytes] = []

    def counted(stripped: bytes) -> CodeAnalysis:
        done.append(stripped)
        return analyse_code(stripped)

    monkeypatch.setattr(module, "analyse_code", counted)
    true = await static_of(context, store, target)
    assert true.mint_or_burn_function is True
    clones = [put(chain.node, front.format(target[2:])) for front in FRONTS.values()]
    for clone in clones:
        found = await static_of(context, store, clone)
        assert found.is_proxy is True
        assert msgspec.structs.replace(found, is_proxy=False) == true
    assert done.count(strip_metadata(code)) == 1

    # what is stored is what is served, until somebody asks for the code to be looked at again
    wrong = analyse_code(code)
    wrong = msgspec.structs.replace(wrong, findings=StaticFindings(timebomb=None))
    planted = msgspec.json.encode(wrong).decode()
    key = hash_of(strip_metadata(code))
    write_found(store, code_hash=key, version=analysis_version(), size=1, found=planted)
    assert (await static_of(context, store, clones[0])).mint_or_burn_function is None
    again = await static_of(context, store, clones[0], redecompile=True)
    assert again.mint_or_burn_function is True
    kept = read_found(store, code_hash=key, version=analysis_version())
    assert kept is not None
    assert msgspec.json.decode(kept, type=CodeAnalysis) == analyse_code(code)


async def test_tokens_that_differ_in_immutables_share_an_answer(
    chain: Chain, context: ChainContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(Path(":memory:"))
    tokens = permit_tokens(chain, count=4)
    codes = [code_of(chain, token) for token in tokens]
    assert len(set(codes)) == len(tokens)
    done: list[bytes] = []

    def counted(stripped: bytes) -> CodeAnalysis:
        done.append(stripped)
        return analyse_code(stripped)

    monkeypatch.setattr(module, "analyse_code", counted)
    for token, code in zip(tokens[:3], codes, strict=False):
        assert await static_of(context, store, token) == analyse_code(code).findings
    assert done == [strip_metadata(code) for code in codes[:2]]

    # each keeper is the one that the token itself has
    examiner = StaticResultCache(ReportStore(store))
    found = await examiner.analyse(codes[2])
    assert found == analyse_code(codes[2])
    assert found.hints.addresses == (keeper_of(2),)

    # looked at again, one of them speaks for the family, and the others have to be looked at
    done.clear()
    await static_of(context, store, tokens[2], redecompile=True)
    await static_of(context, store, tokens[3])
    await static_of(context, store, tokens[0])
    assert done == [strip_metadata(code) for code in codes[2:]]


def keeper_of(number: int) -> Address:
    return named_account(f"keeper {number}")


def permit_tokens(chain: Chain, *, count: int) -> list[Address]:
    """Deployed by a contract, which has their creation code in its own."""
    maker = named_account("maker of permit tokens")
    source = Path(__file__).parent / "permit" / "Maker.sol"
    chain.node.rpc("anvil_setCode", maker, "0x" + compile_runtime(source))
    sender = chain.fresh_account()
    made = []
    for number in range(count):
        name = f"Permit {number}"
        make = "make(uint256,string,address)"
        assert chain.send(sender, maker, make, number, name, keeper_of(number)).success
        call = {"to": maker, "data": call_data("made(uint256)", number)}
        answer = str(chain.node.rpc("eth_call", call, "latest"))
        made.append(Address("0x" + answer[-40:]))
    return made


def code_of(chain: Chain, address: Address) -> bytes:
    return bytes.fromhex(str(chain.node.rpc("eth_getCode", address, "latest"))[2:])
