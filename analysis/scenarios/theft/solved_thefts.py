"""Solved thefts: attempts with arguments solved from the paths to stores of unproved custody.

Serves allowance_bypass and funds_can_be_drained, in addition to attempts without code analysis:
secret constants, amounts of a certain form, data behind the arguments, a contract as caller, and
preceding calls, also hours before. Sends no request.
"""

from collections.abc import Iterator, Sequence

import msgspec

from analysis.scenarios.theft.allowance_bypass import disallowed
from analysis.scenarios.theft.argument_filling import CallTemplate, call_templates, fill
from analysis.scenarios.theft.attack_setup import AttackCall, AttackSetup, transfer_from
from analysis.scenarios.theft.theft_attempts import MOST_ATTEMPTS, TheftAttempt
from analysis.scenarios.trade.transfer import Wallet
from analysis.static.custody.argument_solving import SolvedArgument, SolvedArguments
from analysis.static.custody.simulation_hints import DebitingFunction
from analysis.static.evm.path_state import TRANSFER_FROM
from core.evm.primitives import Address

_MOST_SUSPECTS = 6
_MOST_RECIPES = 3
_WORD = 32
_TRANSFER_FROM_TYPES = "address,address,uint256"
_NOBODY = -1
"""As CallTemplate.place: no address argument gets the wallet."""


def write_attempts(
    attack: AttackSetup, openings: Sequence[SolvedArguments], suspects: Sequence[Address]
) -> list[TheftAttempt]:
    """Return as many attempts as fit one simulation, strangers first. Empty: no solved arguments,
    or no wallet."""
    attackers = [attack.account("reader"), *suspects[:_MOST_SUSPECTS]]
    wallets = attack.wallets("broken into")
    plans = ((attacker, opening) for attacker in attackers for opening in openings)
    found: list[TheftAttempt] = []
    for attacker, opening in plans:
        for recipe in _recipes(opening):
            for is_late in (False, True) if opening.preludes else (False,):
                wallet = next(wallets, None)
                if wallet is None or len(found) >= MOST_ATTEMPTS:
                    return found
                attempt = _attempt(wallet, attacker, opening, recipe, is_late=is_late)
                if attempt is not None and wallet.address != attacker:
                    found.append(disallowed(attack, attempt))
    return found


def _recipes(opening: SolvedArguments) -> Iterator[CallTemplate]:
    is_spending = opening.selector == TRANSFER_FROM
    types = _TRANSFER_FROM_TYPES if is_spending else opening.arguments
    mover = DebitingFunction(selector=opening.selector, arguments=types)
    if opening.tail_victim and types is not None:
        yield CallTemplate(mover=mover, types=types, place=_NOBODY, amount="part")
        return
    ranked = sorted(call_templates(mover, is_taking=True), key=lambda each: each[0])
    for _, recipe in ranked[:1] if is_spending else ranked[:_MOST_RECIPES]:
        yield recipe
    if not ranked and types is not None:
        yield CallTemplate(mover=mover, types=types, place=_NOBODY, amount="part")


def _attempt(
    wallet: Wallet,
    attacker: Address,
    opening: SolvedArguments,
    recipe: CallTemplate,
    *,
    is_late: bool,
) -> TheftAttempt | None:
    filled = fill(recipe, wallet, attacker)
    if filled is None:
        return None
    data = apply_fixes(filled, opening.fixes)
    if opening.tail_victim:
        data += wallet.address[2:]
    main = AttackCall(
        sender=attacker, data=data, value_wei=int(opening.value_wei, 16), is_late=is_late
    )
    after = transfer_from(attacker, wallet.address, attacker, wallet.amount_raw)
    acts = (*_preludes(opening, wallet, attacker), main)
    if opening.selector != TRANSFER_FROM:
        acts = (*acts, msgspec.structs.replace(after, is_late=is_late))
    what = f"{recipe.what}, as the code asks for" + (", hours after the first step" * is_late)
    return TheftAttempt(
        attacker=attacker, wallet=wallet, acts=acts, what=what, has_code=opening.has_code
    )


def _preludes(opening: SolvedArguments, wallet: Wallet, attacker: Address) -> Iterator[AttackCall]:
    for selector, types in opening.preludes:
        mover = DebitingFunction(selector=selector, arguments=types)
        recipe = CallTemplate(mover=mover, types=types, place=_NOBODY, amount="more")
        data = fill(recipe, wallet, attacker)
        if data is not None:
            yield AttackCall(sender=attacker, data=data)


def apply_fixes(data: str, fixes: Sequence[SolvedArgument]) -> str:
    """Return the calldata, as 0x hex, with the solved arguments written in; longer where needed."""
    words = bytearray.fromhex(data[2:])
    tails = [fix for fix in fixes if fix.offset < 0]
    for fix in fixes:
        if fix.offset >= 0:
            _put(words, fix.offset, fix)
    if tails:
        end = len(words) + max(_WORD, *(-fix.offset for fix in tails))
        words = words.ljust(end, b"\0")
        for fix in tails:
            _put(words, end + fix.offset, fix)
    return "0x" + words.hex()


def _put(words: bytearray, offset: int, fix: SolvedArgument) -> None:
    """Change a 32-byte word in place. Calldata beyond its end counts as zero."""
    if len(words) < offset + _WORD:
        words.extend(bytes(offset + _WORD - len(words)))
    now = int.from_bytes(words[offset : offset + _WORD])
    value, mask, modulus = (int(text, 16) for text in (fix.value, fix.mask, fix.modulus))
    if fix.is_weak and now & mask:
        return
    if modulus:
        wanted = now - now % modulus + value
        if wanted > now >= modulus:
            wanted -= modulus
    else:
        wanted = (now & ~mask) | (value & mask)
    words[offset : offset + _WORD] = (wanted % 2**256).to_bytes(_WORD)
