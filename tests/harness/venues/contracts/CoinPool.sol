// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface ICoin {
    function balanceOf(address owner) external view returns (uint256);
    function approve(address spender, uint256 amount) external returns (bool);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// What all of Curve's pools have in common: coins numbered from 0, what the pool believes to hold of
/// each, and transfers. `measures`: it books what arrives, as the newer ones do, and not what was
/// ordered.
abstract contract CoinPool {
    uint256 internal constant ONE = 1e18;
    uint256 internal constant FEE_ONE = 1e10;

    address[] public coins;
    uint256[] public balances;
    bool private immutable measures;

    event Transfer(address indexed sender, address indexed receiver, uint256 value);

    constructor(address[] memory coins_, bool measures_) {
        (coins, measures) = (coins_, measures_);
        balances = new uint256[](coins_.length);
    }

    /// Brings liquidity of one coin.
    function fill(uint256 coin, uint256 amount) external {
        _take(coin, amount);
    }

    function _take(uint256 coin, uint256 amount) internal returns (uint256 booked) {
        uint256 before = ICoin(coins[coin]).balanceOf(address(this));
        require(ICoin(coins[coin]).transferFrom(msg.sender, address(this), amount), "not paid");
        booked = amount;
        if (measures) booked = ICoin(coins[coin]).balanceOf(address(this)) - before;
        balances[coin] += booked;
    }

    function _give(uint256 coin, uint256 amount) internal {
        balances[coin] -= amount;
        require(ICoin(coins[coin]).transfer(msg.sender, amount), "not given");
    }
}

/// The market of Curve's factories: which pools have two coins.
abstract contract CoinFactory {
    mapping(uint256 => address[]) private markets;
    mapping(address => address[]) internal listed;

    function _list(address pool, address[] memory coins) internal {
        listed[pool] = coins;
        for (uint256 i = 0; i < coins.length; ++i) {
            for (uint256 j = i + 1; j < coins.length; ++j) {
                _name(pool, coins[i], coins[j]);
            }
        }
    }

    function _name(address pool, address one, address other) internal {
        markets[uint160(one) ^ uint160(other)].push(pool);
    }

    function find_pool_for_coins(address one, address other, uint256 at)
        external
        view
        returns (address)
    {
        address[] storage found = markets[uint160(one) ^ uint160(other)];
        return at < found.length ? found[at] : address(0);
    }
}
