"""The second round trip: what the pools, the holders and the native coin's pools hold."""

from collections.abc import Sequence

import msgspec

from analysis import native_price, pool_state
from analysis.abi import call, code_at, decode_address, decode_uint, read_code, read_reply
from analysis.curves import pools as curves
from analysis.curves.pools import ValuedCurve
from analysis.desk import Desk
from analysis.discovery import Candidate, find_lookups
from analysis.gate import is_delegated_account
from analysis.knowledge import Known
from analysis.launchpads import verdict
from analysis.launchpads.verdict import Origin
from analysis.look import Look
from analysis.market import PoolState, ValuedPool, rank_pools
from analysis.rounds import Round
from analysis.scenarios.transfer import Wallet, funded_wallet, holder_wallet
from analysis.venues import amm_v4
from config.burn import BURN_ADDRESSES
from config.chains import Dex
from config.primitives import ZERO_ADDRESS, Address, RawAmount

_HOLDERS_ASKED = 5


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What the second round brought."""

    pools: tuple[ValuedPool, ...]
    """Deepest first."""
    curves: tuple[ValuedCurve, ...]
    """Bonding curves the token is sold on now."""
    origin: Origin
    is_complete: bool
    """False: there may be pools beside these, which could not be found, read or priced."""
    wallets: tuple[Wallet, ...]
    """Who the transfer check may use, in order of preference."""


async def read_state(desk: Desk, look: Look, token: Address, known: Known) -> State:
    """Raises UpstreamError."""
    block = look.pin.hash
    readable = [pool for pool in look.candidates if pool.dex.kind in pool_state.READABLE_KINDS]
    holders = _possible_holders(look, token, known)

    trip = Round()
    asked_pools = [trip.ask(pool_state.requests(pool, block=block)) for pool in readable]
    v4_pools = _by_manager(look.candidates)
    asked_v4 = [
        trip.ask(amm_v4.state_requests(dex, pools, block=block, to_block=look.pin.number))
        for dex, pools in v4_pools
    ]
    asked_codes = trip.ask([code_at(holder, block=block) for holder in holders])
    asked_balances = trip.ask(
        [call(token, "balanceOf(address)", holder, block=block) for holder in holders]
    )
    asked_origin = trip.ask(verdict.confirm_requests(look.lead, block=block))
    asked_curve = trip.ask(curves.requests(look.lead, block=block))
    await trip.send(desk.node)

    states = [
        (pool, pool_state.read(pool, trip[at]))
        for pool, at in zip(readable, asked_pools, strict=True)
    ]
    for (_, pools), at in zip(v4_pools, asked_v4, strict=True):
        states += amm_v4.read_states(pools, trip[at])
    native_usd = look.native_usd
    if native_usd is None:
        native_usd = await _price_from_pools(desk, look)
    prices = native_price.anchor_prices(desk.chain, native_usd)
    curve = curves.read(look.lead, trip[asked_curve])
    valued = rank_pools(states, prices)
    origin = verdict.conclude(
        look.lead,
        trip[asked_origin],
        code=look.admitted.code,
        metadata=look.admitted.metadata,
        has_pool=bool(valued),
    )
    balances = [decode_uint(read_reply(answer)) or 0 for answer in trip[asked_balances]]
    codes = [read_code(answer) for answer in trip[asked_codes]]
    accounts = [not code or is_delegated_account(code) for code in codes]
    return State(
        pools=valued,
        curves=curves.value(look.lead, curve, token, prices),
        origin=origin,
        is_complete=look.is_all_asked
        and _is_all_known(desk, states, native_usd)
        and not curves.may_be_missing(
            curve, origin, priceless=_natives(desk) if native_usd is None else ()
        ),
        wallets=_wallets(look, token, list(zip(holders, balances, accounts, strict=True))),
    )


def _by_manager(candidates: Sequence[Candidate]) -> list[tuple[Dex, list[Candidate]]]:
    """AmmV4 pools by the manager that holds them, as many as are added up."""
    managers: dict[str, tuple[Dex, list[Candidate]]] = {}
    for pool in candidates:
        if pool.dex.kind == "AmmV4" and pool.dex.variant is None:
            managers.setdefault(pool.dex.factory, (pool.dex, []))[1].append(pool)
    return [(dex, pools[: amm_v4.MOST_POOLS]) for dex, pools in managers.values()]


def _is_all_known(
    desk: Desk, states: Sequence[tuple[Candidate, PoolState | None]], native_usd: float | None
) -> bool:
    """Whether every pool was read, and priced if it has an anchor on one side."""
    native = _natives(desk)
    is_unread = any(state is None and pool.dex.kind == "AmmV4" for pool, state in states)
    is_unpriced = native_usd is None and any(pool.quote in native for pool, _ in states)
    return not is_unread and not is_unpriced


def _natives(desk: Desk) -> set[Address]:
    """The native coin, wrapped and not."""
    return {desk.chain.wrapped_native.address, ZERO_ADDRESS}


def _possible_holders(look: Look, token: Address, known: Known) -> list[Address]:
    """Indexed holders that are nobody special; whether they are accounts is asked."""
    special = {token, *look.owners, *BURN_ADDRESSES, *(pool.pool for pool in look.candidates)}
    plain = (holder for holder, _ in known.holders if holder not in special)
    return [holder for holder, _ in zip(plain, range(_HOLDERS_ASKED), strict=False)]


def _wallets(
    look: Look, token: Address, holders: Sequence[tuple[Address, int, bool]]
) -> tuple[Wallet, ...]:
    """A wallet funded on stage comes first: it is nobody's friend. Then the largest real holder."""
    supply_raw = look.admitted.metadata.supply_raw
    wallets = []
    if look.token_slot_index is not None:
        wallets.append(
            funded_wallet(
                look.scenery, token, supply_raw=supply_raw, slot_index=look.token_slot_index
            )
        )
    for holder, balance, account in holders:
        if account and balance:
            wallets.append(
                holder_wallet(
                    look.scenery, holder, balance_raw=RawAmount(balance), supply_raw=supply_raw
                )
            )
            break
    return tuple(wallets)


async def _price_from_pools(desk: Desk, look: Look) -> float | None:
    """The native coin's price without its oracle: two more round trips, rarely needed."""
    chain, block = desk.chain, look.pin.hash
    stables = [stable.address for stable in chain.stables]
    lookups = find_lookups(chain.dexes, chain.wrapped_native.address, stables)
    asked = Round()
    at = asked.ask([lookup.request(block=block) for lookup in lookups])
    await asked.send(desk.node)
    pools = [
        pool
        for lookup, answer in zip(lookups, asked[at], strict=True)
        if (pool := lookup.candidate(decode_address(read_reply(answer)))) is not None
    ]
    states = Round()
    slices = [states.ask(native_price.pool_requests(pool, block=block)) for pool in pools]
    await states.send(desk.node)
    return native_price.price_from_pools(
        chain, [(pool, states[at]) for pool, at in zip(pools, slices, strict=True)]
    )
