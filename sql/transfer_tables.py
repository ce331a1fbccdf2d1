"""ERC-20 transfers of tracked tokens: addresses as dictionary ids, amounts as 64-bit limbs."""

import msgspec
import polars as pl

from core.errors import StoreError
from core.primitives import ZERO_ADDRESS, Address, RawAmount
from sql.store import Readable, Transaction
from sql.tokens import read_token

TRANSFER_COLUMNS = (
    ("chain_id", "INTEGER"),
    ("block_number", "BIGINT"),
    ("log_index", "INTEGER"),
    ("token_id", "INTEGER"),
    ("sender_id", "INTEGER"),
    ("recipient_id", "INTEGER"),
    ("word0", "UBIGINT"),
    ("word1", "UBIGINT"),
    ("word2", "UBIGINT"),
    ("word3", "UBIGINT"),
    ("amount", "DOUBLE"),
)
"""Columns of the transfer table: addresses as integers, the amount as four 64-bit limbs (`word0`
lowest) and as a DOUBLE."""

_WORD_DIGITS = 16
_WORDS = 4
_PLACE = ("chain_id", "block_number", "log_index")


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """Net balance of one address from the stored transfers."""

    owner: Address
    amount_raw: RawAmount


class Holdings(msgspec.Struct, frozen=True, kw_only=True):
    """Net balances from the stored transfers of one token."""

    top: tuple[Holding, ...] = ()
    """Balances above 0, largest first."""
    held_raw: int = 0
    """Sum of all positive balances but the zero address's. Exceeds 256 bits where a token emits
    made-up amounts."""
    is_overdrawn: bool = False
    """True if some address sent more than it received: older transfers are missing, or never
    existed."""


class _Count(msgspec.Struct, frozen=True, kw_only=True):
    count: int


class _Net(msgspec.Struct, frozen=True, kw_only=True):
    owner: Address
    word0: str
    word1: str
    word2: str
    word3: str
    all0: str
    all1: str
    all2: str
    all3: str
    overdrawn: int

    def own(self) -> int:
        """Return the signed net balance: negative where transfers from before our first block are
        missing."""
        return _exact(self.word0, self.word1, self.word2, self.word3)

    def everybody(self) -> int:
        """Return the sum of all positive balances."""
        return _exact(self.all0, self.all1, self.all2, self.all3)


def insert_transfers(tx: Transaction, frame: pl.DataFrame) -> int:
    """Store transfers that are not stored yet; return how many were new.

    Columns chain_id, block_number, log_index, token, sender, recipient (0x text, lower case) and
    amount_raw (0x and up to 64 hex digits). Raises StoreError, and nothing is stored, when a token
    is not tracked.
    """
    if not frame.height:
        return 0
    words = {f"word{at}": _word(at) for at in range(_WORDS)}
    encoded = frame.unique(_PLACE, keep="first").with_columns(**words).drop("amount_raw")
    encoded = encoded.with_columns(amount=_as_double())
    before = _count(tx, "transfers/count_all")
    with tx.frame("incoming_transfer", encoded):
        untracked = _count(tx, "transfers/count_untracked")
        if untracked:
            reason = f"{untracked} of {frame.height} transfers are of tokens that are not tracked"
            raise StoreError(path="transfer", reason=reason)
        tx.execute("transfers/insert_addresses")
        tx.execute("transfers/insert_new")
    return _count(tx, "transfers/count_all") - before


def insert_undecoded(tx: Transaction, frame: pl.DataFrame, *, chain_id: int) -> int:
    """Store undecoded logs of one chain that are not stored yet; return how many were new.

    Columns of UndecodedRow.
    """
    if not frame.height:
        return 0
    known = tx.fetch_frame(
        "transfers/list_undecoded_places",
        chain_id=chain_id,
        from_block=frame["block_number"].min(),
        to_block=frame["block_number"].max(),
    )
    return tx.insert_frame(
        "undecoded", frame.join(known, on=["block_number", "log_index"], how="anti")
    )


def holders_of(store: Readable, *, chain_id: int, token: Address, at_most: int) -> Holdings:
    """Return the largest holders by the stored transfers; none when the token is not tracked.

    These are candidates to be verified on chain: stored transfers may start after the token did,
    and a token may change balances without a transfer.
    """
    tracked = read_token(store, chain_id=chain_id, address=token)
    if tracked is None:
        return Holdings()
    # Rounding of the DOUBLE can misorder near neighbours, so more are fetched.
    nets = store.fetch(
        "transfers/list_holders",
        _Net,
        token_id=tracked.token_id,
        nobody=ZERO_ADDRESS,
        at_most=2 * at_most,
    )
    if not nets:
        return Holdings()
    exact = [Holding(owner=net.owner, amount_raw=RawAmount(net.own())) for net in nets]
    ranked = sorted(exact, key=lambda holding: holding.amount_raw, reverse=True)
    return Holdings(
        top=tuple(holding for holding in ranked if holding.amount_raw > 0)[:at_most],
        held_raw=nets[0].everybody(),
        is_overdrawn=nets[0].overdrawn > 0,
    )


def _exact(*words: str) -> int:
    return sum(int(word) << (64 * at) for at, word in enumerate(words))


def _word(at: int) -> pl.Expr:
    """Return the 64-bit limb of amount_raw at index `at`, lowest first."""
    digits = pl.col("amount_raw").str.slice(2).str.zfill(_WORD_DIGITS * _WORDS)
    word = digits.str.slice(_WORD_DIGITS * (_WORDS - 1 - at), _WORD_DIGITS)
    return word.str.to_integer(base=16, dtype=pl.UInt64)


def _as_double() -> pl.Expr:
    words = (pl.col(f"word{at}").cast(pl.Float64) * 2.0 ** (64 * at) for at in range(_WORDS))
    return pl.sum_horizontal(words)


def _count(tx: Transaction, query: str) -> int:
    found = tx.fetch_one(query, _Count)
    return 0 if found is None else found.count
