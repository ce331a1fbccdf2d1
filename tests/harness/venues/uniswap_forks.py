"""A fork of the real Uniswap V2 as its imitators make them: another fee, so another init code.

The package's own code with three numbers changed, at places that its version fixes.
"""

import msgspec
from eth_utils.crypto import keccak

from assay.demo.compile import Artifact, Artifacts
from assay.demo.transaction_pipeline import Pipeline
from config.facts.chain import Dex
from tests.harness.chain.transactions import Chain

FORK_FEE_BP = 100

_PUSH_3 = "6003"
_FEE_OF_A_THOUSAND = (3_300, 3_354)
"""Offsets at which the pair multiplies by 3, for either token."""
_PUSH_997 = "6103e5"


def fork_v2(chain: Chain, artifacts: Artifacts) -> Chain:
    """The same world, whose Uniswap V2 is a fork that takes 1 percent."""
    forked = artifacts | _patched(artifacts)
    world, weth = chain.world, chain.world.venues.wrapped_native.address
    pipeline = Pipeline(chain.node, forked)
    factory = pipeline.deploy("UniswapV2Factory", world.deployer, sender=world.deployer)
    router = pipeline.deploy("UniswapV2Router02", factory, weth, sender=world.deployer)
    for stable in world.venues.stables:
        pipeline.call(
            stable.address, "approve(address,uint256)", router, 2**255, sender=world.owner
        )
    pipeline.flush()
    dex = Dex(name="Fork", kind="AmmV2", factory=factory, router=router, from_block=0)
    venues = msgspec.structs.replace(world.venues, v2=dex)
    return Chain(chain.node, msgspec.structs.replace(world, venues=venues), forked)


def _patched(artifacts: Artifacts) -> Artifacts:
    pair = artifacts["UniswapV2Pair"].creation
    fork = pair
    for place in _FEE_OF_A_THOUSAND:
        assert fork[2 * place :].startswith(_PUSH_3)
        fork = fork[: 2 * place] + f"60{FORK_FEE_BP // 10:02x}" + fork[2 * place + 4 :]
    router = artifacts["UniswapV2Router02"].creation
    assert router.count(_PUSH_997) == len(_FEE_OF_A_THOUSAND)
    router = router.replace(_PUSH_997, f"61{1_000 - FORK_FEE_BP // 10:04x}")
    return {
        "UniswapV2Pair": _with(artifacts["UniswapV2Pair"], fork),
        "UniswapV2Factory": _swapped(artifacts["UniswapV2Factory"], pair, fork),
        "UniswapV2Router02": _swapped(
            _with(artifacts["UniswapV2Router02"], router), _init_hash(pair), _init_hash(fork)
        ),
    }


def _swapped(artifact: Artifact, before: str, after: str) -> Artifact:
    assert artifact.creation.count(before) == 1
    return _with(artifact, artifact.creation.replace(before, after))


def _with(artifact: Artifact, creation: str) -> Artifact:
    return msgspec.structs.replace(artifact, creation=creation)


def _init_hash(creation: str) -> str:
    return keccak(bytes.fromhex(creation)).hex()
