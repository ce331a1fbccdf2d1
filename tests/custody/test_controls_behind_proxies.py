"""Controls of tokens and of hooks are reported, wherever their code is."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.static.analyse_code import analyse_code
from tests.harness.chain.contexts import judge
from tests.harness.chain.trade_oracle import real_trade
from tests.harness.chain.transactions import Chain
from tests.harness.custody.proxied_controls import Front, code_at, deploy, stand
from tests.harness.venues.range_pools import LAUNCH, place


@pytest.mark.parametrize(
    ("contract", "front", "is_hidden"),
    [
        ("StoppableHook", "none", True),
        ("StoppableHook", "constant", True),
        ("StoppableHook", "slot", True),
        ("OpenHook", "none", False),
        ("OpenHook", "constant", False),
        # Nobody is known who may replace the code, and nobody is excluded.
        ("OpenHook", "slot", None),
    ],
)
async def test_a_proxy_hides_no_control_of_a_hook(
    chain: Chain, context: ChainContext, contract: str, front: Front, *, is_hidden: bool | None
) -> None:
    token = place(chain, "v4", "HonestToken", (LAUNCH,), hooks=stand(chain, contract, front))
    assert real_trade(chain, token).sell_success
    report = await judge(context, token.address)
    assert report.scan.hidden_owner_controls is is_hidden


@pytest.mark.parametrize("front", ["none", "constant", "slot"])
async def test_a_proxy_hides_no_control_of_a_token(
    chain: Chain, context: ChainContext, front: Front
) -> None:
    report = await judge(context, stand(chain, "StoppableApprovalToken", front))
    assert report.scan.hidden_owner_controls is True


@pytest.mark.parametrize("contract", ["StoppableHook", "StoppableCLHook", "StoppableBinHook"])
def test_the_swap_functions_of_every_managers_hooks_are_read(chain: Chain, contract: str) -> None:
    code = bytes.fromhex(code_at(chain, deploy(chain, contract))[2:])
    found = analyse_code(code).conditions
    assert found.is_complete
    assert [each.effect for each in found.owned] == ["refuses"]
