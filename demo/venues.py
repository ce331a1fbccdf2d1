"""Deploys the anchors and the exchanges, the real ones where a package has them."""

import msgspec

from config.chains import Anchor, Dex, Oracle
from config.primitives import ZERO_ADDRESS, Address
from demo.anvil import AnvilNode
from demo.layout import NATIVE_USD, Venues
from demo.pipeline import Pipeline
from demo.reads import read_address

_STABLE_DECIMALS = 6
_STABLE_SUPPLY = 10**9 * 10**_STABLE_DECIMALS
_FEED_DECIMALS = 8
_HEARTBEAT_S = 3_600

# Uniswap V4 permissions in a hook's address: after a swap, and changing the swap's amounts there.
_AFTER_SWAP = 1 << 6
_AFTER_SWAP_RETURNS_DELTA = 1 << 2


def deploy_venues(node: AnvilNode, pipeline: Pipeline, deployer: Address) -> Venues:
    """Deploy all of it from one account, and wait until it stands."""
    weth = pipeline.deploy("WETH9", sender=deployer)
    dollar = pipeline.deploy("DemoDollar", _STABLE_SUPPLY, sender=deployer)
    tether = pipeline.deploy("DemoTether", _STABLE_SUPPLY, sender=deployer)
    feed = pipeline.deploy("NativeUsdFeed", NATIVE_USD * 10**_FEED_DECIMALS, sender=deployer)
    v4 = _deploy_v4(pipeline, deployer)
    liquidity_v4 = pipeline.deploy("PoolModifyLiquidityTest", v4.factory, sender=deployer)
    swap_v4 = pipeline.deploy("PoolSwapTest", v4.factory, sender=deployer)
    flagged = pipeline.deploy("FlaggedDeployer", sender=deployer)
    for hook in ("FeeHook", "FeeTakingHook"):
        pipeline.call(
            flagged,
            "deploy(bytes,uint160)",
            pipeline.creation(hook, v4.factory),
            _AFTER_SWAP | _AFTER_SWAP_RETURNS_DELTA,
            sender=deployer,
        )
    venues = Venues(
        wrapped_native=Anchor(address=weth, symbol="WETH", decimals=18),
        stables=(
            Anchor(address=dollar, symbol="USDC", decimals=_STABLE_DECIMALS),
            Anchor(address=tether, symbol="USDT", decimals=_STABLE_DECIMALS),
        ),
        oracle=Oracle(native_usd=feed, decimals=_FEED_DECIMALS, heartbeat_s=_HEARTBEAT_S),
        v2=_deploy_v2(pipeline, deployer, weth),
        v3=_deploy_v3(pipeline, deployer, weth),
        v4=v4,
        solid=_deploy_solid(pipeline, deployer, weth),
        liquidity_v4=liquidity_v4,
        swap_v4=swap_v4,
        fee_hook=ZERO_ADDRESS,
        trap_hook=ZERO_ADDRESS,
        clones=pipeline.deploy("CloneFactory", sender=deployer),
    )
    pipeline.flush()
    # The hooks' addresses were searched for on the chain, so they have to be asked for.
    return msgspec.structs.replace(
        venues,
        fee_hook=read_address(node, flagged, "hooks(uint256)", 0),
        trap_hook=read_address(node, flagged, "hooks(uint256)", 1),
    )


def _deploy_v2(pipeline: Pipeline, deployer: Address, weth: Address) -> Dex:
    factory = pipeline.deploy("UniswapV2Factory", deployer, sender=deployer)
    return Dex(
        name="Uniswap V2",
        kind="AmmV2",
        factory=factory,
        router=pipeline.deploy("UniswapV2Router02", factory, weth, sender=deployer),
        fee_bp=30,
        from_block=0,
    )


def _deploy_v3(pipeline: Pipeline, deployer: Address, weth: Address) -> Dex:
    factory = pipeline.deploy("UniswapV3Factory", sender=deployer)
    # The third argument draws the picture of a position, which nobody asks for here.
    positions = pipeline.deploy(
        "NonfungiblePositionManager", factory, weth, deployer, sender=deployer
    )
    return Dex(
        name="Uniswap V3",
        kind="AmmV3",
        factory=factory,
        router=pipeline.deploy("SwapRouter", factory, weth, sender=deployer),
        quoter=pipeline.deploy("QuoterV2", factory, weth, sender=deployer),
        position_manager=positions,
        fee_tiers=(500, 3_000, 10_000),
        from_block=0,
    )


def _deploy_v4(pipeline: Pipeline, deployer: Address) -> Dex:
    manager = pipeline.deploy("PoolManager", deployer, sender=deployer)
    return Dex(name="Uniswap V4", kind="AmmV4", factory=manager, from_block=0)


def _deploy_solid(pipeline: Pipeline, deployer: Address, weth: Address) -> Dex:
    factory = pipeline.deploy("SolidFactory", sender=deployer)
    return Dex(
        name="Solidly",
        kind="Solid",
        factory=factory,
        router=pipeline.deploy("SolidRouter", factory, weth, sender=deployer),
        from_block=0,
    )
