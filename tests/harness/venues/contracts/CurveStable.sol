// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {CoinFactory, CoinPool} from "CoinPool.sol";

/// A StableSwap pool with the interface, the events and the arithmetic of Curve's, of coins with 18
/// decimals: A n^n sum(x) + D = A D n^n + D^(n+1) / (n^n prod(x)), and a fee that grows off the peg.
contract CurveStablePool is CoinPool {
    uint256 private constant A_PRECISION = 100;
    uint256 private constant ROUNDS = 255;

    uint256 private immutable amplification;
    uint256 public immutable fee;
    uint256 public immutable offpeg_fee_multiplier;

    event TokenExchange(
        address indexed buyer,
        int128 sold_id,
        uint256 tokens_sold,
        int128 bought_id,
        uint256 tokens_bought
    );

    constructor(address[] memory coins_, uint256 a, uint256 fee_, uint256 offpeg, bool measures)
        CoinPool(coins_, measures)
    {
        (amplification, fee, offpeg_fee_multiplier) = (a * A_PRECISION, fee_, offpeg);
        emit Transfer(address(0), msg.sender, 0);
    }

    function get_dy(int128 i, int128 j, uint256 dx) external view returns (uint256) {
        return _output(_number(i), _number(j), balances[_number(i)], dx);
    }

    function exchange(int128 i, int128 j, uint256 dx, uint256 least) external returns (uint256 dy) {
        require(i != j && dx > 0, "nothing to exchange");
        uint256 before = balances[_number(i)];
        dx = _take(_number(i), dx);
        dy = _output(_number(i), _number(j), before, dx);
        require(dy >= least, "fewer coins than expected");
        _give(_number(j), dy);
        emit TokenExchange(msg.sender, i, dx, j, dy);
    }

    function _number(int128 coin) private pure returns (uint256) {
        require(coin >= 0, "no such coin");
        return uint128(coin);
    }

    /// What the pool gives of coin j, where it held `before` of coin i and gets `dx`.
    function _output(uint256 i, uint256 j, uint256 before, uint256 dx)
        private
        view
        returns (uint256)
    {
        uint256[] memory x = balances;
        x[i] = before;
        uint256 d = _invariant(x);
        x[i] += dx;
        uint256 y = _solve(x, j, d);
        uint256 dy = x[j] - y - 1;
        uint256 kept = _fee((before + x[i]) / 2, (x[j] + y) / 2);
        return dy - dy * kept / FEE_ONE;
    }

    function _fee(uint256 xi, uint256 xj) private view returns (uint256) {
        if (offpeg_fee_multiplier <= FEE_ONE) return fee;
        uint256 spread = (offpeg_fee_multiplier - FEE_ONE) * 4 * xi * xj / (xi + xj) ** 2;
        return offpeg_fee_multiplier * fee / (spread + FEE_ONE);
    }

    /// D by Newton's method.
    function _invariant(uint256[] memory x) private view returns (uint256 d) {
        uint256 n = x.length;
        uint256 sum = 0;
        for (uint256 k = 0; k < n; ++k) sum += x[k];
        if (sum == 0) return 0;
        uint256 ann = amplification * n;
        d = sum;
        for (uint256 round = 0; round < ROUNDS; ++round) {
            uint256 product = d;
            for (uint256 k = 0; k < n; ++k) product = product * d / x[k];
            product /= n ** n;
            uint256 last = d;
            d = (ann * sum / A_PRECISION + product * n) * d
                / ((ann - A_PRECISION) * d / A_PRECISION + (n + 1) * product);
            if (_apart(d, last) <= 1) return d;
        }
        revert("no invariant");
    }

    /// The balance of coin j at which the others make D.
    function _solve(uint256[] memory x, uint256 j, uint256 d) private view returns (uint256 y) {
        uint256 n = x.length;
        uint256 ann = amplification * n;
        uint256 c = d;
        uint256 sum = 0;
        for (uint256 k = 0; k < n; ++k) {
            if (k == j) continue;
            sum += x[k];
            c = c * d / (x[k] * n);
        }
        c = c * d * A_PRECISION / (ann * n);
        uint256 b = sum + d * A_PRECISION / ann;
        y = d;
        for (uint256 round = 0; round < ROUNDS; ++round) {
            uint256 last = y;
            y = (y * y + c) / (2 * y + b - d);
            if (_apart(y, last) <= 1) return y;
        }
        revert("no solution");
    }

    function _apart(uint256 a, uint256 b) private pure returns (uint256) {
        return a > b ? a - b : b - a;
    }
}

/// Lists coins as StableSwap-NG's does: with a length in front.
contract CurveStableFactory is CoinFactory {
    event PlainPoolDeployed(address[] coins, uint256 A, uint256 fee, address deployer);

    function open(address[] calldata coins, uint256 a, uint256 fee, uint256 offpeg, bool measures)
        external
    {
        _list(address(new CurveStablePool(coins, a, fee, offpeg, measures)), coins);
        emit PlainPoolDeployed(coins, a, fee, msg.sender);
    }

    function get_coins(address pool) external view returns (address[] memory) {
        return listed[pool];
    }
}
