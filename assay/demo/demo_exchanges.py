"""Deploys the anchors and the exchanges, original ones if a package has them."""

import msgspec
from eth_utils.crypto import keccak

from assay.demo.anvil import AnvilNode
from assay.demo.layout import NATIVE_USD, Venues
from assay.demo.reads import read_address
from assay.demo.transaction_pipeline import Pipeline, created_address
from config.facts.chain import Anchor, Dex, Oracle
from core.evm.primitives import ZERO_ADDRESS, Address

_STABLE_DECIMALS = 6
_STABLE_SUPPLY = 10**9 * 10**_STABLE_DECIMALS
_FEED_DECIMALS = 8
_HEARTBEAT_S = 3_600

# Uniswap V4 permissions in a hook's address: round a swap, and changing the swap's amounts there.
_BEFORE_SWAP = 1 << 7
_AFTER_SWAP = 1 << 6
_BEFORE_SWAP_RETURNS_DELTA = 1 << 3
_AFTER_SWAP_RETURNS_DELTA = 1 << 2
_TAKES_AFTER = _AFTER_SWAP | _AFTER_SWAP_RETURNS_DELTA
_TAKES_BEFORE = _BEFORE_SWAP | _BEFORE_SWAP_RETURNS_DELTA

_UNSUBSCRIBE_GAS = 300_000
"""Gas for subscribers of V4 positions, of which there are none."""

DYNAMIC_HOOK_FEE = 50_000
"""Fee of the dynamic hook, in hundredths of a basis point."""


def deploy_venues(node: AnvilNode, pipeline: Pipeline, deployer: Address) -> Venues:
    """Deploy all of them from one account, and wait until they are mined."""
    weth = pipeline.deploy("WETH9", sender=deployer)
    dollar = pipeline.deploy("DemoDollar", _STABLE_SUPPLY, sender=deployer)
    tether = pipeline.deploy("DemoTether", _STABLE_SUPPLY, sender=deployer)
    feed = pipeline.deploy("NativeUsdFeed", NATIVE_USD * 10**_FEED_DECIMALS, sender=deployer)
    v4 = _deploy_v4(pipeline, deployer)
    liquidity_v4 = pipeline.deploy("PoolModifyLiquidityTest", v4.factory, sender=deployer)
    swap_v4 = pipeline.deploy("PoolSwapTest", v4.factory, sender=deployer)
    flagged = pipeline.deploy("FlaggedDeployer", sender=deployer)
    for creation, flags in (
        (pipeline.creation("FeeHook", v4.factory), _TAKES_AFTER),
        (pipeline.creation("FeeTakingHook", v4.factory), _TAKES_AFTER),
        (pipeline.creation("InputFeeHook", v4.factory), _TAKES_BEFORE),
        (pipeline.creation("DynamicReturnFeeTestHook"), _BEFORE_SWAP),
        (pipeline.creation("RouterHook", v4.factory, swap_v4), _BEFORE_SWAP),
    ):
        pipeline.call(flagged, "deploy(bytes,uint160)", creation, flags, sender=deployer)
    venues = Venues(
        wrapped_native=Anchor(address=weth, symbol="WETH", decimals=18),
        stables=(
            Anchor(address=dollar, symbol="USDC", decimals=_STABLE_DECIMALS),
            Anchor(address=tether, symbol="USDT", decimals=_STABLE_DECIMALS),
        ),
        oracle=Oracle(native_usd=feed, decimals=_FEED_DECIMALS, heartbeat_s=_HEARTBEAT_S),
        v2=_deploy_v2(pipeline, deployer, weth),
        v3=_deploy_v3(pipeline, deployer, weth),
        pancake=_deploy_pancake(pipeline, deployer),
        algebra=_deploy_algebra(pipeline, deployer, weth),
        v4=msgspec.structs.replace(
            v4, router=swap_v4, position_manager=_deploy_positions_v4(pipeline, deployer, v4, weth)
        ),
        solid=_deploy_solid(pipeline, deployer, weth),
        slipstream=_deploy_slipstream(pipeline, deployer),
        liquidity_v4=liquidity_v4,
        swap_v4=swap_v4,
        fee_hook=ZERO_ADDRESS,
        trap_hook=ZERO_ADDRESS,
        input_hook=ZERO_ADDRESS,
        dynamic_hook=ZERO_ADDRESS,
        router_hook=ZERO_ADDRESS,
        clones=pipeline.deploy("CloneFactory", sender=deployer),
    )
    pipeline.flush()
    # The hooks' addresses were mined on the chain, so they have to be read.
    fee, trap, taking, dynamic, choosy = (
        read_address(node, flagged, "hooks(uint256)", at) for at in range(5)
    )
    pipeline.call(dynamic, "setFee(uint24)", DYNAMIC_HOOK_FEE, sender=deployer)
    return msgspec.structs.replace(
        venues,
        fee_hook=fee,
        trap_hook=trap,
        input_hook=taking,
        dynamic_hook=dynamic,
        router_hook=choosy,
    )


def _deploy_v2(pipeline: Pipeline, deployer: Address, weth: Address) -> Dex:
    factory = pipeline.deploy("UniswapV2Factory", deployer, sender=deployer)
    return Dex(
        name="Uniswap V2",
        kind="AmmV2",
        factory=factory,
        init_code_hash=_creation_hash(pipeline, "UniswapV2Pair"),
        router=pipeline.deploy("UniswapV2Router02", factory, weth, sender=deployer),
        fee_bp=30,
        from_block=0,
    )


def _deploy_v3(pipeline: Pipeline, deployer: Address, weth: Address) -> Dex:
    factory = pipeline.deploy("UniswapV3Factory", sender=deployer)
    # The third argument renders the picture of a position, which the demo does not need.
    positions = pipeline.deploy(
        "NonfungiblePositionManager", factory, weth, deployer, sender=deployer
    )
    return Dex(
        name="Uniswap V3",
        kind="AmmV3",
        factory=factory,
        init_code_hash=_creation_hash(pipeline, "UniswapV3Pool"),
        router=pipeline.deploy("SwapRouter", factory, weth, sender=deployer),
        quoter=pipeline.deploy("QuoterV2", factory, weth, sender=deployer),
        position_manager=positions,
        fee_tiers=(500, 3_000, 10_000),
        from_block=0,
    )


def _creation_hash(pipeline: Pipeline, name: str) -> str:
    return "0x" + keccak(pipeline.creation(name)).hex()


def _deploy_pancake(pipeline: Pipeline, deployer: Address) -> Dex:
    """Deploy the original factory and pools; no package has deployer, router and positions."""
    code_store = pipeline.deploy("CodeShelf", pipeline.creation("PancakeV3Pool"), sender=deployer)
    maker = pipeline.deploy("PancakeDeployer", code_store, sender=deployer)
    factory = pipeline.deploy("PancakeV3Factory", maker, sender=deployer)
    pipeline.call(maker, "setFactoryAddress(address)", factory, sender=deployer)
    router = pipeline.deploy("PancakeRouter", factory, sender=deployer)
    return Dex(
        name="PancakeSwap V3",
        kind="AmmV3",
        variant="pancake_v3",
        factory=factory,
        router=router,
        position_manager=router,
        fee_tiers=(100, 500, 2_500, 10_000),
        from_block=0,
    )


def _deploy_algebra(pipeline: Pipeline, deployer: Address, weth: Address) -> Dex:
    # Factory and pool deployer name each other in their constructors.
    maker = created_address(deployer, pipeline.next_nonce(deployer) + 1)
    factory = pipeline.deploy("AlgebraFactory", maker, sender=deployer)
    pipeline.deploy("AlgebraPoolDeployer", factory, sender=deployer)
    positions = pipeline.deploy("AlgebraPositions", factory, weth, deployer, maker, sender=deployer)
    return Dex(
        name="Algebra",
        kind="AmmV3",
        variant="algebra_integral",
        factory=factory,
        router=pipeline.deploy("AlgebraSwapRouter", factory, weth, maker, sender=deployer),
        position_manager=positions,
        from_block=0,
    )


def _deploy_slipstream(pipeline: Pipeline, deployer: Address) -> Dex:
    """Deploy Uniswap's V3 pools under a factory and a router with Slipstream's interface."""
    code_store = pipeline.deploy("CodeShelf", pipeline.creation("UniswapV3Pool"), sender=deployer)
    factory = pipeline.deploy("SlipstreamFactory", code_store, sender=deployer)
    router = pipeline.deploy("SlipstreamRouter", factory, sender=deployer)
    return Dex(
        name="Slipstream",
        kind="SolidV3",
        variant="slipstream",
        factory=factory,
        router=router,
        position_manager=router,
        fee_tiers=(1, 50, 100, 200, 2_000),
        from_block=0,
    )


def _deploy_v4(pipeline: Pipeline, deployer: Address) -> Dex:
    manager = pipeline.deploy("PoolManager", deployer, sender=deployer)
    return Dex(name="Uniswap V4", kind="AmmV4", factory=manager, from_block=0)


def _deploy_positions_v4(pipeline: Pipeline, deployer: Address, v4: Dex, weth: Address) -> Address:
    """Deploy V4's position manager, without Permit2 and pictures of positions."""
    return pipeline.deploy(
        "PositionManager",
        *(v4.factory, ZERO_ADDRESS, _UNSUBSCRIBE_GAS, ZERO_ADDRESS, weth),
        sender=deployer,
    )


def _deploy_solid(pipeline: Pipeline, deployer: Address, weth: Address) -> Dex:
    factory = pipeline.deploy("SolidFactory", sender=deployer)
    return Dex(
        name="Solidly",
        kind="Solid",
        factory=factory,
        router=pipeline.deploy("SolidRouter", factory, weth, sender=deployer),
        from_block=0,
    )
