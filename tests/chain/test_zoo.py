"""Protects the zoo's claims: each token does to fresh accounts what its trait says."""

import pytest

from demo.zoo import ZOO
from tests.chain.oracle import real_trade
from tests.chain.verbs import Chain

@pytest.mark.parametrize("key", [a.key for a in ZOO])
def test_x(chain: Chain, key: str) -> None:
    print(real_trade(chain, chain.world.token(key)))
