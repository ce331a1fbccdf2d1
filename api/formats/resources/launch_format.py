"""Accounts around a token's launch, as an answer."""

from typing import Final, Literal

from analysis.launch.launch_roles import (
    Bundle,
    BundleKind,
    GroupSums,
    LaunchFindings,
    LaunchRole,
    LaunchWallet,
    RoleEntry,
)
from analysis.quotes.exit_quote import ExitQuote
from api.formats.amounts import decimal_text, share_pct
from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from core.evm.primitives import Address, RawAmount, checksum
from core.report.launch_facts import LaunchRecord
from core.report.report import ReportRow

MOST_WALLETS: Final = 100
MOST_BUNDLES: Final = 20

LAUNCH_WORDS: Final = (
    ("developer", "Developer", "its creator is not known"),
    ("insider", "Insiders", "its creator is not known"),
    ("bundle", "Bundles", "its first trades are not known"),
    ("sniper", "Snipers", "its first trades are not known"),
    ("early_buyer", "Early buyers", "its first trades are not known"),
)
"""Roles: key, title, and the reason for null, for pages."""

_UNKNOWN: Final = {
    None: "",
    "not_tracked": "The token is not indexed.",
    "before_index": "Its first pool is older than the index.",
    "forgotten": "It was launched before the oldest launches that are kept.",
    "on_curve": "It was sold on a launch platform's curve first. Those sales are not indexed.",
    "not_traded": "No trade against a quote token is known from the week after its first pool.",
}


class LaunchStart(Shape, frozen=True, kw_only=True):
    """First trade of a token."""

    block_number: int
    """Its block."""
    at: str
    """Time of the block, ISO 8601 UTC."""
    transaction: str
    """Hash of its transaction."""


class LaunchGroup(Shape, frozen=True, kw_only=True):
    """Sums over the accounts of one role. null: not known."""

    wallets: int
    """Number of accounts."""
    bought: str
    """Tokens they bought, as an exact decimal number."""
    sold: str
    """Tokens they sold."""
    is_sold_whole: bool
    """false: `sold` is a lower bound, as further sales may be missing."""
    balance: str | None
    """Tokens they hold now, by the stored transfers. null: not known."""
    balance_pct: float | None
    """The same in percent of the supply. null: not known."""
    peak_pct: float | None
    """Largest share of the supply that they are known to have held at one time, in percent. null:
    not known."""


class LaunchEntry(Shape, frozen=True, kw_only=True):
    """Reason for one role of an account."""

    role: LaunchRole
    """The role."""
    transaction: str | None
    """Hash of the transaction that puts the account there. null: the creation is not looked up."""
    block_number: int | None
    """Its block. null: as for `transaction`."""
    source: str | None
    """Sender of an insider's tokens, or funder of a bundle. null: there is none."""


class LaunchAccount(Shape, frozen=True, kw_only=True):
    """One account with a role. null: not known."""

    address: str
    """Its address, with the checksum."""
    roles: tuple[LaunchEntry, ...]
    """Its roles, the gravest first."""
    bought: str
    """Tokens it bought, as an exact decimal number."""
    received: str
    """Tokens it received in early transfers."""
    sold: str
    """Tokens it sold."""
    sales: int
    """Number of its sales."""
    is_sold_whole: bool
    """false: `sold` is a lower bound, as further sales may be missing."""
    last_sale: str | None
    """Hash of the transaction of its last stored sale. null: there is none."""
    balance: str | None
    """Tokens it holds now, by the stored transfers. null: not known."""
    balance_pct: float | None
    """The same in percent of the supply. null: not known."""
    peak_pct: float | None
    """Largest share of the supply that it is known to have held, in percent. null: not known."""


class LaunchBundle(Shape, frozen=True, kw_only=True):
    """Early buyers that bought together."""

    kind: BundleKind
    """One transaction, one block, or one source of their first coins."""
    block_number: int
    """Block of the first purchase."""
    transaction: str | None
    """Hash of the transaction of all purchases. null: there are several."""
    funder: str | None
    """Account that sent all of them their first coins. null: they are not linked by it."""
    wallets: tuple[str, ...]
    """Their addresses, in the order of their purchases."""


class LaunchSale(Shape, frozen=True, kw_only=True):
    """Effect of a sale of all that developer, insiders, bundles and snipers hold."""

    outcome: Literal["sold", "refused", "unknown"]
    """sold: the figures are of a simulated sale. refused: the token or its pools revert it."""
    reason: str
    """Reason for missing figures. Empty: there are some."""
    amount: str | None
    """Tokens that are sold. null: their holdings are not known."""
    value_usd: float | None
    """USD at the spot price. null: there is no price."""
    proceeds_usd: float | None
    """USD that arrive. null: not known."""
    price_fall_pct: float | None
    """Percent by which the price falls, computed from the proceeds: exact where the price has one
    constant product or range. null: not known."""
    depth_share: float | None
    """Part of the other sides of all pools that leaves them, 0 to 1. null: not known."""
    block_number: int | None
    """Block of the simulation. null: nothing was simulated."""


class LaunchAnswer(Shape, frozen=True, kw_only=True):
    """Accounts around a launch: facts with their transactions, and no verdict."""

    chain: str
    """Slug."""
    contract_address: str
    """Address of the token, with its checksum."""
    up_to_block: int
    """Newest stored block."""
    reason: str
    """Why the first trade is not known, so that nobody's purchases are. Empty: it is known."""
    creator: str | None
    """Account that created the token. null: not known."""
    first_trade: LaunchStart | None
    """First trade. null: not known."""
    developer: LaunchGroup | None
    """The creator. null: not known."""
    insider: LaunchGroup | None
    """Accounts that received tokens from the creator, over at most three transfers. null: not
    known."""
    bundle: LaunchGroup | None
    """Early buyers that bought in one transaction or block, or have one funder. null: not known."""
    sniper: LaunchGroup | None
    """Early buyers that bought much. null: not known."""
    early_buyer: LaunchGroup | None
    """All accounts that bought in the first blocks or seconds. null: not known."""
    together: LaunchGroup
    """All but those that are early buyers only; each account once."""
    if_they_sell: LaunchSale
    """Effect of a sale of all that these hold."""
    bundles: tuple[LaunchBundle, ...]
    """Bundles, at most 20."""
    accounts: tuple[LaunchAccount, ...]
    """Accounts, the gravest role first, at most 100."""
    has_more: bool
    """There may be more accounts: of the first trades and transfers at most 200 are stored."""
    unlooked_funders: int
    """Early buyers whose funder is not looked up yet, so that a bundle may be missing."""
    unknown_traders: int
    """Stored trades whose trader the logs do not name."""


def launch_answer(
    chain: str,
    token: ReportRow,
    record: LaunchRecord,
    found: LaunchFindings,
    sale: LaunchSale,
    *,
    unlooked: int,
) -> LaunchAnswer:
    """Return the answer. `unlooked`: early buyers whose funder is not looked up yet."""
    groups = {role: _known_group(sums, token) for role, sums in found.groups.items()}
    first = found.first
    return LaunchAnswer(
        chain=chain,
        contract_address=checksum(token.address),
        up_to_block=record.up_to_block,
        reason=_UNKNOWN[record.unknown],
        creator=None if record.creator is None else _address(record.creator),
        first_trade=None
        if first is None
        else LaunchStart(
            block_number=first.block_number,
            at=iso_utc(first.time_s),
            transaction=_hash(first.tx_hash),
        ),
        developer=groups["developer"],
        insider=groups["insider"],
        bundle=groups["bundle"],
        sniper=groups["sniper"],
        early_buyer=groups["early_buyer"],
        together=_group(found.together, token),
        if_they_sell=sale,
        bundles=tuple(_bundle(one) for one in found.bundles[:MOST_BUNDLES]),
        accounts=tuple(_account(one, token) for one in found.wallets[:MOST_WALLETS]),
        has_more=record.has_more_trades
        or record.has_more_transfers
        or len(found.wallets) > MOST_WALLETS,
        unlooked_funders=unlooked,
        unknown_traders=found.unknown_traders,
    )


def no_sale(reason: str) -> LaunchSale:
    """Return the sale where nothing was simulated."""
    return LaunchSale(
        outcome="unknown",
        reason=reason,
        amount=None,
        value_usd=None,
        proceeds_usd=None,
        price_fall_pct=None,
        depth_share=None,
        block_number=None,
    )


def launch_sale(quote: ExitQuote) -> LaunchSale:
    """Return the last line of a quote, which is the sale of these accounts."""
    line = quote.lines[-1]
    is_sold = line.proceeds_usd is not None
    outcome: Literal["refused", "unknown"] = "refused" if line.is_refused else "unknown"
    return LaunchSale(
        outcome="sold" if is_sold else outcome,
        reason=line.reason,
        amount=decimal_text(line.amount_raw, decimals=quote.decimals),
        value_usd=line.value_usd,
        proceeds_usd=line.proceeds_usd,
        price_fall_pct=_price_fall(line.price_impact_pct),
        depth_share=line.depth_share,
        block_number=quote.block.number,
    )


def _price_fall(impact_pct: float | None) -> float | None:
    """Return the fall of the price. Within one range the mean price of a sale is the geometric mean
    of the prices before and after it."""
    if impact_pct is None:
        return None
    kept = max(0.0, 1 - impact_pct / 100)
    return round(100 * (1 - kept * kept), 2)


def _known_group(sums: GroupSums | None, token: ReportRow) -> LaunchGroup | None:
    return None if sums is None else _group(sums, token)


def _group(sums: GroupSums, token: ReportRow) -> LaunchGroup:
    return LaunchGroup(
        wallets=sums.wallets,
        bought=_tokens(sums.bought, token),
        sold=_tokens(sums.sold, token),
        is_sold_whole=sums.is_sold_whole,
        balance=_amount(sums.now, token),
        balance_pct=_share(sums.now, token),
        peak_pct=_share(sums.peak, token),
    )


def _account(one: LaunchWallet, token: ReportRow) -> LaunchAccount:
    return LaunchAccount(
        address=_address(one.wallet),
        roles=tuple(_entry(entry) for entry in one.entries),
        bought=_tokens(one.bought, token),
        received=_tokens(one.received, token),
        sold=_tokens(one.sold, token),
        sales=one.sales,
        is_sold_whole=one.is_sold_whole,
        last_sale=None if one.last_sale_tx is None else _hash(one.last_sale_tx),
        balance=_amount(one.now, token),
        balance_pct=_share(one.now, token),
        peak_pct=_share(one.peak, token),
    )


def _entry(entry: RoleEntry) -> LaunchEntry:
    return LaunchEntry(
        role=entry.role,
        transaction=None if entry.tx_hash is None else _hash(entry.tx_hash),
        block_number=entry.block_number,
        source=None if entry.source is None else _address(entry.source),
    )


def _bundle(one: Bundle) -> LaunchBundle:
    return LaunchBundle(
        kind=one.kind,
        block_number=one.block_number,
        transaction=None if one.tx_hash is None else _hash(one.tx_hash),
        funder=None if one.funder is None else _address(one.funder),
        wallets=tuple(_address(wallet) for wallet in one.wallets),
    )


def _amount(raw: int | None, token: ReportRow) -> str | None:
    return None if raw is None else _tokens(raw, token)


def _tokens(raw: int, token: ReportRow) -> str:
    return decimal_text(RawAmount(raw), decimals=token.decimals)


def _share(raw: int | None, token: ReportRow) -> float | None:
    if raw is None or not token.supply_raw:
        return None
    return round(share_pct(RawAmount(raw), of_raw=token.supply_raw), 4)


def _address(raw: bytes) -> str:
    return checksum(Address("0x" + raw.hex()))


def _hash(raw: bytes) -> str:
    return "0x" + raw.hex()
