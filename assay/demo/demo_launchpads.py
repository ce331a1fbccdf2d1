"""Two launch platforms and their tokens: on a curve, sold out, graduated, or in a pool."""

import json
from collections.abc import Sequence

import msgspec

from assay.demo.anvil import ETHER
from assay.demo.layout import LaunchedToken, Venues, router_of
from assay.demo.transaction_pipeline import Pipeline, created_address
from config.facts.launchpad import CreationEvent, Launchpad, Registry
from core.evm.primitives import Address

CURVE_PAD = "demo-curve"
DIRECT_PAD = "demo-direct"

_RAISED_WEI = 24 * ETHER
"""Native coins that a curve sells for before it closes."""

_CREATED = (
    "TokenCreate(address creator,address token,uint256 requestId,string name,string symbol,"
    "uint256 totalSupply,uint256 launchTime,uint256 launchFee)"
)
_SEEDED = "TokenLaunched(address indexed token,address indexed creator,uint256 seeded)"


class _OnCurve(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    symbol: str
    trait: str
    paid_wei: int
    graduates: bool = False


_ON_CURVE = (
    _OnCurve(key="curve", symbol="CURVE", trait="sold on a bonding curve", paid_wei=5 * ETHER),
    _OnCurve(
        key="curve_fresh", symbol="FRESH", trait="just created on a bonding curve", paid_wei=0
    ),
    _OnCurve(
        key="curve_sold_out",
        symbol="GAP",
        trait="sold out, and no pool yet: nowhere to trade",
        paid_wei=30 * ETHER,
    ),
    _OnCurve(
        key="graduated",
        symbol="GRAD",
        trait="graduated from a bonding curve to a pool",
        paid_wei=30 * ETHER,
        graduates=True,
    ),
)


def build_launchpads(
    pipeline: Pipeline, venues: Venues, operator: Address
) -> tuple[tuple[Launchpad, ...], tuple[LaunchedToken, ...]]:
    """Deploy both platforms and their tokens, and wait until they are mined.

    The operator pays for everything. Raises TransactionFailedError.
    """
    router = router_of(venues.v2)
    curve = pipeline.deploy("CurvePad", router, sender=operator)
    helper = pipeline.deploy("CurvePadHelper", curve, sender=operator)
    direct = pipeline.deploy("DirectPad", router, sender=operator)
    launched = [
        _sell(pipeline, curve, operator, one, nonce=nonce)
        for nonce, one in enumerate(_ON_CURVE, start=1)  # a contract's nonces begin with 1
    ]
    pipeline.call(
        direct,
        "launch(string,string)",
        *("Demo Seed", "SEED"),
        sender=operator,
        value_wei=4 * ETHER,
    )
    launched.append(
        LaunchedToken(
            key="seeded",
            trait="a launch platform seeded its pool directly",
            address=created_address(direct, 1),
            symbol="SEED",
            launchpad=DIRECT_PAD,
            pad=direct,
        )
    )
    pipeline.flush()
    return (_curve_pad(curve, helper), _direct_pad(direct)), tuple(launched)


def render_launchpads(pads: Sequence[Launchpad]) -> str:
    """Render the overlay's list of platforms, which replaces the built-in ones."""
    if not pads:
        return "launchpad = []\n"
    return "\n".join(
        "\n".join(
            (
                _section("[[launchpad]]", pad, leaving_out=("event", "registry")),
                *(_section("[[launchpad.event]]", event) for event in pad.event),
                *(_section("[[launchpad.registry]]", registry) for registry in pad.registry),
            )
        )
        for pad in pads
    )


def _sell(
    pipeline: Pipeline, pad: Address, operator: Address, one: _OnCurve, *, nonce: int
) -> LaunchedToken:
    token = created_address(pad, nonce)
    pipeline.call(
        pad,
        "createToken(string,string,uint256)",
        *(f"Demo {one.symbol.title()}", one.symbol, _RAISED_WEI),
        sender=operator,
    )
    if one.paid_wei:
        pipeline.call(pad, "buyToken(address)", token, sender=operator, value_wei=one.paid_wei)
    if one.graduates:
        pipeline.call(pad, "addLiquidity(address)", token, sender=operator)
    return LaunchedToken(
        key=one.key,
        trait=one.trait,
        address=token,
        symbol=one.symbol,
        launchpad=CURVE_PAD,
        pad=pad,
    )


def _curve_pad(manager: Address, helper: Address) -> Launchpad:
    return Launchpad(
        slug=CURVE_PAD,
        kind="curve",
        curve="curve_a",
        contracts=(manager,),
        event=(CreationEvent(declared=_CREATED, token="token", creator="creator"),),  # noqa: S106
        registry=(
            Registry(read="_tokenInfos(address)", words=13, token_word=0),
            Registry(read="getTokenInfo(address)", at=(helper,), words=12, contract_word=1),
        ),
        from_block=0,
    )


def _direct_pad(pad: Address) -> Launchpad:
    return Launchpad(
        slug=DIRECT_PAD,
        kind="direct",
        contracts=(pad,),
        event=(CreationEvent(declared=_SEEDED, token="token", creator="creator"),),  # noqa: S106
        from_block=0,
    )


def _section(heading: str, value: msgspec.Struct, *, leaving_out: Sequence[str] = ()) -> str:
    # Strings, numbers and flat lists of them are written alike in JSON and TOML.
    fields = msgspec.structs.asdict(value)
    lines = [
        f"{key} = {json.dumps(item)}"
        for key, item in fields.items()
        if key not in leaving_out and item is not None and item != ()
    ]
    return "\n".join((heading, *lines, ""))
