"""Disguise: accounts, fees and block fields chosen so that a contract cannot detect a simulation.

Sends no request.
"""

from hashlib import sha256

import msgspec

from core.evm.primitives import Address, RawAmount


class Disguise(msgspec.Struct, frozen=True, kw_only=True):
    """Accounts, amounts, fees and block fields that look like those of the chain.

    A token that detects a simulation may behave well in it only. So accounts and amounts are
    derived from a secret, and fees, proposer and randomness resemble recent ones of the chain
    instead of the zeros that nodes use. The same secret gives the same values: two analyses of a
    token at one block by one service run the same simulations.
    """

    secret: str
    base_fee_wei: int | None
    """None: the chain has no base fee (before EIP-1559)."""
    proposers: tuple[Address, ...]
    """Recent proposers, that of the pinned block among them."""
    tips_wei: tuple[int, int] = (10**8, 15 * 10**8)
    """Smallest and largest priority fee of ordinary wallets."""
    is_validated: bool = False
    """True if trades are simulated with the node's checks of balances and fees on: it keeps the
    base fee only then."""

    @property
    def gas_price_wei(self) -> int:
        """Return a price a little over the base fee, for calls with a single gas price. Wei."""
        return (self.base_fee_wei or _LEGACY_GAS_PRICE_WEI) + self.tips_wei[0]

    def fees(self, sender: Address) -> dict[str, str]:
        """Return the fee fields of a transaction, as a wallet sets them; each sender has a tip of
        its own."""
        low, high = self.tips_wei
        tip = low + int.from_bytes(self._draw(f"tip {sender}")[:8], "big") % max(1, high - low)
        if self.base_fee_wei is None:
            return {"gasPrice": hex(_LEGACY_GAS_PRICE_WEI + tip)}
        return {
            "maxFeePerGas": hex(2 * self.base_fee_wei + high),
            "maxPriorityFeePerGas": hex(tip),
        }

    @property
    def highest_fee_wei(self) -> int:
        """Return the most that a unit of gas may cost. Wei."""
        return 2 * (self.base_fee_wei or _LEGACY_GAS_PRICE_WEI) + self.tips_wei[1]

    def account(self, purpose: str) -> Address:
        """Return an unpredictable codeless address, the same for the same purpose."""
        return Address("0x" + self._draw(purpose)[-20:].hex())

    def purse(self, account: Address) -> int:
        """Return the spare wei of an ordinary wallet: 0.05 to 3 coins, mostly little, all
        different."""
        drawn = int.from_bytes(self._draw(account)[:8], "big") / 2**64
        return int(_SMALLEST_PURSE_WEI * (_LARGEST_PURSE_WEI / _SMALLEST_PURSE_WEI) ** drawn)

    def nonce(self, account: Address) -> int:
        """Return the number of transactions that the account has sent. Half of the wallets are
        new."""
        drawn = self._draw(f"nonce {account}")
        return 0 if drawn[0] % 2 else 1 + drawn[1]

    def about(self, amount: RawAmount, purpose: str) -> RawAmount:
        """Return the amount changed by at most a tenth, at least one: round shares of a reserve
        reveal a test."""
        per_mille = 900 + int.from_bytes(self._draw(purpose)[:2], "big") % 200
        return RawAmount(max(1, amount * per_mille // 1000))

    def block_overrides(self, number: int) -> dict[str, str]:
        """Return fields of `blockOverrides` other than number and time, different for every
        block."""
        drawn = self._draw(f"block {number}")
        overrides = {
            "feeRecipient": self.proposers[drawn[0] % len(self.proposers)],
            "prevRandao": "0x" + self._draw(f"randao {number}").hex(),
        }
        if self.base_fee_wei is not None:
            per_mille = 900 + int.from_bytes(drawn[1:3], "big") % 200
            overrides["baseFeePerGas"] = hex(self.base_fee_wei * per_mille // 1000)
        return overrides

    def _draw(self, purpose: str) -> bytes:
        return sha256(f"{self.secret}:{purpose}".encode()).digest()


_LEGACY_GAS_PRICE_WEI = 3 * 10**9
_SMALLEST_PURSE_WEI = 5 * 10**16
_LARGEST_PURSE_WEI = 3 * 10**18
