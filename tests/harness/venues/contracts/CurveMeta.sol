// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {CoinFactory, CoinPool, ICoin} from "CoinPool.sol";

/// A base pool whose coins are worth the same, with an LP token for each coin that was brought.
contract CurveBasePool {
    address[] public coins;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed sender, address indexed receiver, uint256 value);

    constructor(address[] memory coins_) {
        coins = coins_;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _move(from, to, amount);
    }

    function bring(uint256 coin, uint256 amount) external returns (uint256) {
        require(ICoin(coins[coin]).transferFrom(msg.sender, address(this), amount), "not paid");
        balanceOf[msg.sender] += amount;
        emit Transfer(address(0), msg.sender, amount);
        return amount;
    }

    function withdraw(uint256 coin, uint256 amount) external returns (uint256) {
        balanceOf[msg.sender] -= amount;
        emit Transfer(msg.sender, address(0), amount);
        require(ICoin(coins[coin]).transfer(msg.sender, amount), "not given");
        return amount;
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
        return true;
    }
}

/// A coin against the LP token of a base pool, with the interface and the events of Curve's metapools,
/// one for one. `exchange_underlying` goes through the base pool: its coins have the numbers from 1 on.
contract CurveMetaPool is CoinPool {
    uint256 private constant KEPT = 4;
    uint256 private constant WHOLE = 10_000;
    uint256 public constant fee = 4_000_000;

    CurveBasePool private immutable base;

    event TokenExchange(
        address indexed buyer,
        int128 sold_id,
        uint256 tokens_sold,
        int128 bought_id,
        uint256 tokens_bought
    );
    event TokenExchangeUnderlying(
        address indexed buyer,
        int128 sold_id,
        uint256 tokens_sold,
        int128 bought_id,
        uint256 tokens_bought
    );

    constructor(address[] memory coins_) CoinPool(coins_, true) {
        base = CurveBasePool(coins_[1]);
        emit Transfer(address(0), msg.sender, 0);
    }

    function get_dy(int128, int128, uint256 dx) public pure returns (uint256) {
        return dx - dx * KEPT / WHOLE;
    }

    function exchange(int128 i, int128 j, uint256 dx, uint256 least) external returns (uint256 dy) {
        dx = _take(uint128(i), dx);
        dy = get_dy(i, j, dx);
        require(dy >= least, "fewer coins than expected");
        _give(uint128(j), dy);
        emit TokenExchange(msg.sender, i, dx, j, dy);
    }

    function exchange_underlying(int128 i, int128 j, uint256 dx, uint256 least)
        external
        returns (uint256 dy)
    {
        require((i == 0) != (j == 0), "between coins of the base pool");
        if (i == 0) {
            uint256 paid = _take(0, dx);
            uint256 lp = get_dy(0, 1, paid);
            balances[1] -= lp;
            uint256 coin = uint128(j) - 1;
            dy = base.withdraw(coin, lp);
            require(ICoin(base.coins(coin)).transfer(msg.sender, dy), "not given");
        } else {
            ICoin coin = ICoin(base.coins(uint128(i) - 1));
            require(coin.transferFrom(msg.sender, address(this), dx), "not paid");
            coin.approve(address(base), dx);
            uint256 lp = base.bring(uint128(i) - 1, dx);
            balances[1] += lp;
            dy = get_dy(1, 0, lp);
            _give(0, dy);
        }
        require(dy >= least, "fewer coins than expected");
        emit TokenExchangeUnderlying(msg.sender, i, dx, j, dy);
    }
}

/// Names a metapool for its coin and each coin of the base pool too, as Curve's factories do, and
/// lists the coin and the LP token as the pool's coins.
contract CurveMetaFactory is CoinFactory {
    event MetaPoolDeployed(
        address coin, address base_pool, uint256 A, uint256 fee, address deployer
    );

    function open(address coin, CurveBasePool base, address[] calldata behind) external {
        address[] memory coins = new address[](2);
        (coins[0], coins[1]) = (coin, address(base));
        address pool = address(new CurveMetaPool(coins));
        _list(pool, coins);
        for (uint256 at = 0; at < behind.length; ++at) _name(pool, coin, behind[at]);
        emit MetaPoolDeployed(coin, address(base), 200, 4_000_000, msg.sender);
    }

    function get_coins(address pool) external view returns (address[] memory) {
        return listed[pool];
    }
}
