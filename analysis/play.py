"""The last round trips: everything that is played on stage for one token."""

from collections.abc import Collection, Sequence

import msgspec

from analysis import routers
from analysis.beyond import beyond
from analysis.call_stage import Turn
from analysis.desk import Desk
from analysis.evidence import play_evidence
from analysis.look import Look
from analysis.market import TradeResult, ValuedPool
from analysis.perform import perform
from analysis.pool_state import READABLE_KINDS
from analysis.scenarios import trade, transfer
from analysis.scenarios.ground import Ground
from analysis.scenarios.trade import Bought
from analysis.scenarios.transfer import TransferResult, Wallet
from analysis.stage import NotRun, Play, Played, next_blocks
from config.primitives import ZERO_ADDRESS, Address
from sql.rows import EvidenceRow


class Buys(msgspec.Struct, frozen=True, kw_only=True):
    """Transfer and buys have been played; sales have not."""

    sendings: tuple[tuple[Wallet, Play, Played | NotRun], ...]
    """The transfer check by each wallet, not judged yet."""
    bought: tuple[tuple[Ground, Bought], ...]
    refused: dict[str, TradeResult]
    """Pools that cannot be traded at all, by Candidate.key, with why."""
    evidence: tuple[EvidenceRow, ...]


class Sales(msgspec.Struct, frozen=True, kw_only=True):
    """Everything has been played."""

    trades: dict[str, TradeResult]
    """By Candidate.key."""
    transfer: TransferResult | None
    """The buyer's, where there was one; else as it was after the buys."""
    evidence: tuple[EvidenceRow, ...]


async def play_buys(
    desk: Desk, look: Look, token: Address, pools: Sequence[ValuedPool], wallets: Sequence[Wallet]
) -> Buys:
    """Send tokens, and buy in every pool, in one round trip. Raises UpstreamError."""
    grounds, refused = _grounds(desk, look, pools)
    buys = [trade.write_buys(ground) for ground in grounds]
    block = what_if_blocks(desk, look)[0]
    transfers = [
        transfer.write_play(look.pin, look.scenery, token, wallet, block=block)
        for wallet in wallets
    ]
    turns = [
        [_turn(ground, play) for play in plays] for ground, plays in zip(grounds, buys, strict=True)
    ]
    played = await _send(desk, look, [[Turn(play=play) for play in transfers], *turns])
    bought, evidence = [], list[EvidenceRow]()
    for ground, plays, results in zip(grounds, buys, played[1:], strict=True):
        settled = trade.read_buys(ground, results)
        bought.append((ground, settled))
        evidence += _evidence(
            f"buy:{ground.candidate.key}", trade.VERSION, plays, results, settled.outcome
        )
    return Buys(
        sendings=tuple(zip(wallets, transfers, played[0], strict=True)),
        bought=tuple(bought),
        refused=refused,
        evidence=tuple(evidence),
    )


async def play_sales(
    desk: Desk, look: Look, buys: Buys, *, wallets: Sequence[Wallet], special: Collection[Address]
) -> Sales:
    """Sell what was bought, and send some of it on, in one round trip.

    `wallets`: real holders are among them, who sell for the census. `special`: wallets whose
    transfer does not count, for the code may know them. Raises UpstreamError.
    """
    supply_raw = look.admitted.metadata.supply_raw
    sales = [
        trade.write_sales(ground, bought, supply_raw=supply_raw) for ground, bought in buys.bought
    ]
    sendings = (
        (_turn(ground, written[0]), written[1])
        for ground, bought in buys.bought
        if (written := trade.write_sending(ground, bought)) is not None
    )
    sending = next(sendings, None)
    groups = [
        [_turn(ground, sale.play)] if sale else []
        for (ground, _), sale in zip(buys.bought, sales, strict=True)
    ]
    extra = beyond(desk, look, buys.bought, wallets=wallets, special=special)
    extra_turns = extra.turns if extra else []
    sent, extra_played, *played = await _send(
        desk, look, [[sending[0]] if sending else [], extra_turns, *groups]
    )
    trades = dict(buys.refused)
    senders = transfer.choose([wallet for wallet, _, _ in buys.sendings], special)
    result, evidence = _judge_transfers(
        [sending for sending in buys.sendings if sending[0] in senders]
    )
    for (ground, bought), sale, results in zip(buys.bought, sales, played, strict=True):
        key = ground.candidate.key
        sell = trade.read_sales(ground, bought, sale, results)
        trades[key] = TradeResult(buy=bought.outcome, sell=sell)
        plays = [sale.play] if sale else []
        evidence += _evidence(f"sell:{key}", trade.VERSION, plays, results, sell)
    if sending is not None:
        by_buyer = transfer.read_result(sending[1], sent[0])
        if by_buyer.success is not None:
            result = by_buyer
            evidence += _evidence("transfer", transfer.VERSION, [sending[0].play], sent, by_buyer)
    if extra is not None:
        evidence += extra.read(extra_turns, extra_played)
    return Sales(trades=trades, transfer=result, evidence=tuple(evidence))


def what_if_blocks(desk: Desk, look: Look) -> tuple[tuple[int, int], ...]:
    """Number and time of the blocks of buys, sales and patient sales."""
    waits_s = (0, trade.PATIENCE_S)
    return tuple(
        next_blocks(
            look.pin,
            block_time_s=desk.chain.block_time_s,
            now_s=int(desk.now_s()),
            waits_s=waits_s,
        )
    )


def _grounds(
    desk: Desk, look: Look, pools: Sequence[ValuedPool]
) -> tuple[list[Ground], dict[str, TradeResult]]:
    grounds, refused = [], {}
    wrapped = desk.chain.wrapped_native.address
    for pool in pools:
        candidate = pool.candidate
        dex, slot = candidate.dex, desk.quote_slots.get(candidate.quote)
        way = routers.way_of(
            candidate,
            desk.routers.get(dex.router) if dex.router else None,
            free=look.scenery.account(f"{candidate.key}:router"),
        )
        if slot is None and candidate.quote not in (wrapped, ZERO_ADDRESS):
            way = "the quote token's balances could not be found"
        if isinstance(way, str):
            missing = NotRun(missing="POOL", reason=way)
            refused[candidate.key] = TradeResult(buy=missing, sell=missing)
            continue
        grounds.append(
            Ground(
                pin=look.pin,
                scenery=look.scenery,
                blocks=what_if_blocks(desk, look),
                candidate=candidate,
                quote_reserve_raw=pool.state.quote_reserve_raw,
                way=way,
                quote_slot_index=None if candidate.quote == wrapped else slot,
                token_slot_index=look.token_slot_index,
            )
        )
    return grounds, refused


def _turn(ground: Ground, play: Play) -> Turn:
    candidate = ground.candidate
    return Turn(play=play, pool=candidate.pool, has_witness=candidate.dex.kind in READABLE_KINDS)


async def _send(
    desk: Desk, look: Look, groups: Sequence[Sequence[Turn]]
) -> list[list[Played | NotRun]]:
    """Have every group played together; results come grouped as the plays were."""
    turns = [turn for group in groups for turn in group]
    results = iter(await perform(desk.node, desk.powers, turns, codes=look.codes))
    return [[next(results) for _ in group] for group in groups]


def _judge_transfers(
    sendings: Sequence[tuple[Wallet, Play, Played | NotRun]],
) -> tuple[TransferResult | None, list[EvidenceRow]]:
    """The first wallet whose check settled decides; they come in order of preference.

    A pass that another wallet's refusal contradicts is no pass: one of them is special.
    """
    if not sendings:
        return None, []
    judged = [transfer.read_result(wallet, result) for wallet, _, result in sendings]
    plays, results = [play for _, play, _ in sendings], [result for *_, result in sendings]
    at = next((at for at, result in enumerate(judged) if result.success is not None), 0)
    chosen = judged[at]
    if chosen.success and any(result.success is False for result in judged):
        chosen = transfer.unsettled("one wallet can send and another cannot")
    return chosen, _evidence("transfer", transfer.VERSION, plays[at:], results[at:], chosen)


def _evidence(
    key: str,
    version: int,
    plays: Sequence[Play],
    results: Sequence[Played | NotRun],
    outcome: object,
) -> list[EvidenceRow]:
    """Each play of one question, numbered where there are several."""
    return [
        play_evidence(f"{key}#{at}" if at else key, version, play, result, outcome)
        for at, (play, result) in enumerate(zip(plays, results, strict=True))
        if isinstance(result, Played)
    ]
