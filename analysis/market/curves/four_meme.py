"""Bonding curves of four.meme: one manager sells all tokens, for the native coin or an ERC-20.

Two reads return the same facts in different order: the manager's own record of second-generation
tokens, and the helper's of both generations. When sold out (`offers` is 0) trading has stopped, and
liquidity is added in a later transaction. Source: four.meme TokenManager2 and TokenManagerHelper3
interfaces.
"""

from collections.abc import Sequence

from analysis.launchpads.registries import RegistryRecord
from analysis.market.curves.curve import Curve, CurveState, Standing, no_calls, share_of
from analysis.reads.eth_reads import Reply
from core.evm.primitives import Address, RawAmount, address_of

_MANAGERS_WORDS = 13
"""Length of the manager's record. The helper's record, recognised by its manager field, has one
word less."""

_COMPLETED = 3
"""Status of the manager's record once liquidity is added."""


def _decode(record: RegistryRecord, _replies: Sequence[Reply]) -> Standing:
    words = record.words
    if record.question.registry.contract_word is None:
        if len(words) < _MANAGERS_WORDS:
            return "unread"
        manager: Address | None = record.question.at
        quote = address_of(words[1])
        offers, funds, target, is_done = words[7], words[8], words[5], words[12] == _COMPLETED
    else:
        manager, quote = address_of(words[1]), address_of(words[2])
        offers, funds, target, is_done = words[7], words[9], words[10], words[11] != 0
    if is_done or offers == 0:
        return "closed"
    if manager is None or quote is None:
        return "unread"
    return CurveState(
        pool=manager,
        quote=quote,
        token_reserve_raw=RawAmount(offers),
        quote_reserve_raw=RawAmount(funds),
        progress=share_of(funds, target),
        quote_target_raw=RawAmount(target) if target else None,
    )


CURVE = Curve(key="curve_a", words=12, calls=no_calls, decode=_decode)
