"""Names of functions, by their selectors: a table of usual signatures."""

from functools import cache
from typing import Final

from core.evm.abi import selector_of
from core.evm.primitives import Selector

FALLBACK: Final = Selector("0x00000000")

_SIGNATURES: Final = """
name() symbol() decimals() totalSupply() balanceOf(address) owner() getOwner() admin()
transfer(address,uint256) transferFrom(address,address,uint256) approve(address,uint256)
allowance(address,address) increaseAllowance(address,uint256) decreaseAllowance(address,uint256)
permit(address,address,uint256,uint256,uint8,bytes32,bytes32)
transferAndCall(address,uint256) transferAndCall(address,uint256,bytes)
approveAndCall(address,uint256) approveAndCall(address,uint256,bytes)
transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)
renounceOwnership() transferOwnership(address) acceptOwnership() grantRole(bytes32,address)
revokeRole(bytes32,address) renounceRole(bytes32,address) initialize()
initialize(string,string,address) initialize(address) upgradeTo(address)
upgradeToAndCall(address,bytes) changeAdmin(address)
mint(address,uint256) mint(uint256) mint() burn(uint256) burn(address,uint256)
burnFrom(address,uint256) setMinter(address) addMinter(address) removeMinter(address)
pause() unpause() setPaused(bool) setPause(bool) openTrading() enableTrading() startTrading()
launch() setTrading(bool) setTradingEnabled(bool) setTradingActive(bool) tradingStatus(bool)
setBot(address,bool) setBots(address[],bool) addBots(address[]) delBots(address[])
blacklist(address) blacklist(address,bool) setBlacklist(address,bool) unblacklist(address)
setBlacklisted(address,bool) addToBlacklist(address) removeFromBlacklist(address)
blacklistAddress(address,bool) setIsBot(address,bool) freeze(address) unfreeze(address)
setWhitelist(address,bool) addToWhitelist(address) setLimit(address,uint256)
excludeFromFees(address,bool) excludeFromFee(address) includeInFee(address)
setFee(uint256) setFees(uint256,uint256) setTax(uint256) setTaxes(uint256,uint256)
setBuyTax(uint256) setSellTax(uint256) setBuyFee(uint256) setSellFee(uint256)
updateBuyFees(uint256,uint256,uint256) updateSellFees(uint256,uint256,uint256)
reduceFee(uint256) setTaxFeePercent(uint256) setTaxRate(uint256) setRate(uint256)
setRates(uint256,uint256) setFeeReceiver(address) setMarketingWallet(address)
setMaxTxAmount(uint256) setMaxTxPercent(uint256) setMaxTransaction(uint256)
setMaxTransactionAmount(uint256) setMaxTx(uint256) setMaxWallet(uint256) removeLimits()
setMaxWalletSize(uint256) updateMaxWalletAmount(uint256) setMaximum(uint256)
setCooldown(uint256) setCooldownEnabled(bool) setDeadline(uint256) setPair(address)
setRouter(address) setAutomatedMarketMakerPair(address,bool) swapBack() manualSwap()
withdraw() withdraw(uint256) withdrawToken(address) rescueTokens(address,uint256)
recoverERC20(address,uint256) claimStuckTokens(address) multicall(bytes[]) claim()
syncRewards(address,uint256) rebalance(address,address,uint256) setKeeper(address)
swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)
swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)
swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)
exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))
exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))
deposit() execute(bytes,bytes[],uint256)
"""


@cache
def _by_selector() -> dict[Selector, str]:
    return {selector_of(signature): signature for signature in _SIGNATURES.split()}


def function_name(selector: Selector) -> str | None:
    """Return the likely signature of a function. None: it is not in the table."""
    if selector == FALLBACK:
        return "fallback"
    return _by_selector().get(selector)
