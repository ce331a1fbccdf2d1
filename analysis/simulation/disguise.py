"""What a contract could tell a simulation from the chain by, made to look like the chain. Pure."""

from hashlib import sha256

import msgspec

from config.primitives import Address, RawAmount


class Disguise(msgspec.Struct, frozen=True, kw_only=True):
    """What a contract could tell the stage from the chain by, made to look like the chain.

    A token that knows it is being simulated may behave for once. So accounts and amounts come from
    a secret, and fees, proposer and randomness are like those the chain lately had instead of the
    zeros that nodes put there. The same secret gives the same scenery: two analyses of a token at
    one block by one service play the same.
    """

    secret: str
    base_fee_wei: int | None
    """None: the chain has none (before EIP-1559)."""
    proposers: tuple[Address, ...]
    """Lately seen ones, that of the pinned block among them."""
    tips_wei: tuple[int, int] = (10**8, 15 * 10**8)
    """Smallest and largest priority fee of ordinary wallets."""
    is_validated: bool = False
    """Trades are played with the node's checks of balances and fees on: it keeps the base fee in
    force only then."""

    @property
    def gas_price_wei(self) -> int:
        """A little over the base fee: of calls that name one price."""
        return (self.base_fee_wei or _LEGACY_GAS_PRICE_WEI) + self.tips_wei[0]

    def fees(self, sender: Address) -> dict[str, str]:
        """Fee fields of a transaction, as a wallet fills them in; each wallet tips its own."""
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
        """What a unit of gas may cost at most."""
        return 2 * (self.base_fee_wei or _LEGACY_GAS_PRICE_WEI) + self.tips_wei[1]

    def account(self, purpose: str) -> Address:
        """A codeless address that nobody can know, the same for the same purpose."""
        return Address("0x" + self._draw(purpose)[-20:].hex())

    def purse(self, account: Address) -> int:
        """Wei that an ordinary wallet holds beside what it pays: between 0.05 and 3 coins, small
        ones more often, no two alike."""
        drawn = int.from_bytes(self._draw(account)[:8], "big") / 2**64
        return int(_SMALLEST_PURSE_WEI * (_LARGEST_PURSE_WEI / _SMALLEST_PURSE_WEI) ** drawn)

    def nonce(self, account: Address) -> int:
        """Transactions that the account has sent before: half of the wallets are new."""
        drawn = self._draw(f"nonce {account}")
        return 0 if drawn[0] % 2 else 1 + drawn[1]

    def about(self, amount: RawAmount, purpose: str) -> RawAmount:
        """The amount within a tenth, at least one: round shares of a reserve give a test away."""
        per_mille = 900 + int.from_bytes(self._draw(purpose)[:2], "big") % 200
        return RawAmount(max(1, amount * per_mille // 1000))

    def block_overrides(self, number: int) -> dict[str, str]:
        """Fields of `blockOverrides` beside number and time; no two blocks alike."""
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
