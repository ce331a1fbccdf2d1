"""Protects stored answers in a whole analysis: used for every clone, replaced on `redecompile`."""

from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import ChainScanner
from analysis.static import result_cache as module
from analysis.static.analyse_code import CodeAnalysis, analyse_code
from analysis.static.engine_version import analysis_version
from analysis.static.evm.disassembly import hash_of, strip_metadata
from analysis.static.result_cache import StaticResultCache
from assay.demo.anvil import AnvilNode
from assay.demo.layout import named_account
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings
from core.evm.primitives import Address
from core.report.fields.static_findings import StaticFindings
from sql.engine.store import Store
from sql.tokens.codes import read_found, write_found
from tests.harness.chain.transactions import Chain
from tests.harness.static.proxy_codes import FRONTS


def put(node: AnvilNode, code: str) -> Address:
    """A clone of the zoo's honest token: nothing in its storage, and all of its code."""
    address = named_account(f"clone {code}")
    node.rpc("anvil_setCode", address, "0x" + code)
    # constant in that token, as read by the gate
    node.mine()
    return address


async def static_of(
    context: ChainContext, store: Store, token: Address, *, redecompile: bool = False
) -> StaticFindings:
    """Return the findings of a service that has just been started."""
    restarted = ChainContext(
        chain=context.chain,
        node=context.node,
        index=context.index,
        settings=context.settings,
        now_s=context.now_s,
        static_results=StaticResultCache(ReportStore(store, AnalysisSettings())),
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

    # stored results are served until a caller requests another analysis of the code
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


def code_of(chain: Chain, address: Address) -> bytes:
    return bytes.fromhex(str(chain.node.rpc("eth_getCode", address, "latest"))[2:])
