// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {CoinFactory, CoinPool} from "CoinPool.sol";

/// A pool of two coins with the interface, the events and the arithmetic of Curve's cryptoswap. The
/// price that its liquidity is centred on does not move here.
contract CurveCryptoPool is CoinPool {
    uint256 private constant A_MULTIPLIER = 10_000;
    uint256 private constant ANN = 400_000;
    uint256 private constant GAMMA = 145e12;
    uint256 private constant MID_FEE = 26e6;
    uint256 private constant OUT_FEE = 45e6;
    uint256 private constant FEE_GAMMA = 230e12;
    uint256 private constant ROUNDS = 255;

    uint256 public immutable price_scale;

    event TokenExchange(
        address indexed buyer,
        uint256 sold_id,
        uint256 tokens_sold,
        uint256 bought_id,
        uint256 tokens_bought,
        uint256 fee,
        uint256 packed_price_scale
    );

    constructor(address[] memory coins_, uint256 scale, bool measures) CoinPool(coins_, measures) {
        price_scale = scale;
        emit Transfer(address(0), address(this), 0);
    }

    function fee() external view returns (uint256) {
        return _fee(_scaled());
    }

    function get_dy(uint256 i, uint256 j, uint256 dx) external view returns (uint256 dy) {
        (dy,) = _output(i, j, balances[i], dx);
    }

    function exchange(uint256 i, uint256 j, uint256 dx, uint256 least)
        external
        returns (uint256 dy)
    {
        require(i != j && dx > 0, "nothing to exchange");
        uint256 before = balances[i];
        dx = _take(i, dx);
        uint256 kept;
        (dy, kept) = _output(i, j, before, dx);
        require(dy >= least, "slippage");
        _give(j, dy);
        emit TokenExchange(msg.sender, i, dx, j, dy, kept, price_scale);
    }

    function _scaled() private view returns (uint256[2] memory) {
        return [balances[0], balances[1] * price_scale / ONE];
    }

    /// What the pool gives of coin j, and the fee, where it held `before` of coin i and gets `dx`.
    function _output(uint256 i, uint256 j, uint256 before, uint256 dx)
        private
        view
        returns (uint256 dy, uint256 kept)
    {
        uint256[2] memory x = _scaled();
        uint256 scale = i == 1 ? price_scale : ONE;
        x[i] = before * scale / ONE;
        uint256 d = _invariant(x);
        x[i] = (before + dx) * scale / ONE;
        uint256 y = _solve(x[i], d);
        dy = x[j] - y - 1;
        x[j] = y;
        if (j == 1) dy = dy * ONE / price_scale;
        kept = _fee(x) * dy / FEE_ONE;
        dy -= kept;
    }

    function _fee(uint256[2] memory x) private pure returns (uint256) {
        uint256 sum = x[0] + x[1];
        uint256 k = ONE * 4 * x[0] / sum * x[1] / sum;
        uint256 share = FEE_GAMMA * ONE / (FEE_GAMMA + ONE - k);
        return (MID_FEE * share + OUT_FEE * (ONE - share)) / ONE;
    }

    function _bend(uint256 k0) private pure returns (uint256) {
        uint256 top = GAMMA + ONE;
        return top > k0 ? top - k0 + 1 : k0 - top + 1;
    }

    function _weight(uint256 d, uint256 bend) private pure returns (uint256) {
        return ONE * d / GAMMA * bend / GAMMA * bend * A_MULTIPLIER / ANN;
    }

    /// D by Newton's method.
    function _invariant(uint256[2] memory x) private pure returns (uint256 d) {
        (uint256 high, uint256 low) = x[0] > x[1] ? (x[0], x[1]) : (x[1], x[0]);
        uint256 sum = high + low;
        d = 2 * _root(high * low);
        for (uint256 round = 0; round < ROUNDS; ++round) {
            uint256 last = d;
            d = _stepOfInvariant(high, low, sum, d);
            if (_apart(d, last) * 1e14 < (d > 1e16 ? d : 1e16)) return d;
        }
        revert("no invariant");
    }

    function _stepOfInvariant(uint256 high, uint256 low, uint256 sum, uint256 d)
        private
        pure
        returns (uint256)
    {
        uint256 k0 = ONE * 4 * high / d * low / d;
        uint256 bend = _bend(k0);
        uint256 weight = _weight(d, bend);
        uint256 second = 4 * ONE * k0 / bend;
        uint256 slope = sum + sum * second / ONE + weight * 2 / k0 - second * d / ONE;
        uint256 plus = d * (slope + sum) / slope;
        uint256 minus = d * d / slope;
        uint256 part = d * (weight / slope) / ONE;
        if (ONE > k0) minus += part * (ONE - k0) / k0;
        else minus -= part * (k0 - ONE) / k0;
        return plus > minus ? plus - minus : (minus - plus) / 2;
    }

    /// The scaled balance of the one coin at which `other` of the other makes D.
    function _solve(uint256 other, uint256 d) private pure returns (uint256 y) {
        y = d * d / (other * 4);
        uint256 limit = other > d ? other / 1e14 : d / 1e14;
        if (limit < 100) limit = 100;
        for (uint256 round = 0; round < ROUNDS; ++round) {
            uint256 last = y;
            y = _stepOfSolution(other, d, y);
            if (_apart(y, last) < (y / 1e14 > limit ? y / 1e14 : limit)) return y;
        }
        revert("no solution");
    }

    function _stepOfSolution(uint256 other, uint256 d, uint256 y) private pure returns (uint256) {
        uint256 k0 = ONE * 2 * other / d * y * 2 / d;
        uint256 bend = _bend(k0);
        uint256 weight = _weight(d, bend);
        uint256 second = ONE + 2 * ONE * k0 / bend;
        uint256 slope = ONE * y + (other + y) * second + weight;
        if (slope < d * second) return y / 2;
        slope -= d * second;
        uint256 steep = slope / y;
        uint256 minus = weight / steep;
        uint256 plus = (slope + ONE * d) / steep + minus * ONE / k0;
        minus += ONE * (other + y) / steep;
        return plus < minus ? y / 2 : plus - minus;
    }

    function _root(uint256 value) private pure returns (uint256 root) {
        if (value == 0) return 0;
        root = 1 << 255;
        uint256 next = value;
        while (next < root) (root, next) = (next, (next + value / next) / 2);
    }

    function _apart(uint256 a, uint256 b) private pure returns (uint256) {
        return a > b ? a - b : b - a;
    }
}

/// Lists coins as Twocrypto's does: a place for each of two.
contract CurveCryptoFactory is CoinFactory {
    event TwocryptoPoolDeployed(
        address pool,
        string name,
        string symbol,
        address[2] coins,
        address math,
        bytes32 salt,
        uint256[2] precisions,
        uint256 packed_A_gamma,
        uint256 packed_fee_params,
        uint256 packed_rebalancing_params,
        uint256 packed_prices,
        address deployer
    );

    function open(address[] calldata coins, uint256 scale, bool measures) external {
        address pool = address(new CurveCryptoPool(coins, scale, measures));
        _list(pool, coins);
        emit TwocryptoPoolDeployed(
            pool,
            "a name that is longer than a word of the log's data",
            "C",
            [coins[0], coins[1]],
            address(0),
            0,
            [uint256(1), 1],
            0,
            0,
            0,
            scale,
            msg.sender
        );
    }

    function get_coins(address pool) external view returns (address[2] memory) {
        return [listed[pool][0], listed[pool][1]];
    }
}
