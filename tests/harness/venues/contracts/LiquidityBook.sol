// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {FullMath} from "@uniswap/v4-core/src/libraries/FullMath.sol";
import {BinTokens} from "BinTokens.sol";

interface IErc20 {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// A pair with the interface, the events and the arithmetic of Liquidity Book's: constant-sum bins,
/// the price of each `step` basis points above that of the one before; a trade goes through as many
/// as it needs, and reverts where they end. The fee does not vary here. Shares of bins are its tokens.
contract BookPair is BinTokens {
    uint256 private constant FEE = 2e15;
    uint256 private constant ONE = 1e18;
    uint256 private constant PROTOCOL_BP = 1_000;
    int256 private constant PRICE_ONE = 1 << 23;

    address public immutable getTokenX;
    address public immutable getTokenY;
    uint16 public immutable getBinStep;
    uint24 public getActiveId;

    mapping(uint24 => uint256[2]) private bins;
    uint256[2] private reserves;
    uint256[2] private protocolFees;
    uint24 private lowest = type(uint24).max;
    uint24 private highest;

    event Swap(
        address indexed sender,
        address indexed to,
        uint24 id,
        bytes32 amountsIn,
        bytes32 amountsOut,
        uint24 volatilityAccumulator,
        bytes32 totalFees,
        bytes32 protocolFees
    );

    constructor(address x, address y, uint24 activeId, uint16 step) {
        (getTokenX, getTokenY, getActiveId, getBinStep) = (x, y, activeId, step);
    }

    function getReserves() external view returns (uint128, uint128) {
        return (uint128(reserves[0] - protocolFees[0]), uint128(reserves[1] - protocolFees[1]));
    }

    function getBin(uint24 id) external view returns (uint128, uint128) {
        return (uint128(bins[id][0]), uint128(bins[id][1]));
    }

    /// Puts an equal part of Y into `count` bins from the active one downwards, and of X upwards.
    function fill(uint24 count, uint256 x, uint256 y) external {
        uint256[] memory ids = new uint256[](2 * uint256(count));
        uint256[] memory minted = new uint256[](2 * uint256(count));
        for (uint24 at = 0; at < count; ++at) {
            (ids[at], ids[count + at]) = (getActiveId - at, getActiveId + at);
            minted[at] = _grow(getActiveId - at, 0, y / count);
            minted[count + at] = _grow(getActiveId + at, x / count, 0);
        }
        emit TransferBatch(msg.sender, address(0), msg.sender, ids, minted);
        if (getActiveId - count + 1 < lowest) lowest = getActiveId - count + 1;
        if (getActiveId + count - 1 > highest) highest = getActiveId + count - 1;
        require(IErc20(getTokenX).transferFrom(msg.sender, address(this), x), "X");
        require(IErc20(getTokenY).transferFrom(msg.sender, address(this), y), "Y");
        (reserves[0], reserves[1]) = (reserves[0] + x, reserves[1] + y);
    }

    function _grow(uint24 id, uint256 x, uint256 y) private returns (uint256 shares) {
        uint256 price = _price(id);
        shares = price * x + (y << 128);
        uint256 there = price * bins[id][0] + (bins[id][1] << 128);
        if (there > 0) shares = FullMath.mulDiv(shares, totalSupply[id], there);
        (bins[id][0], bins[id][1]) = (bins[id][0] + x, bins[id][1] + y);
        totalSupply[id] += shares;
        balanceOf[msg.sender][id] += shares;
    }

    function burn(
        address from,
        address to,
        uint256[] calldata ids,
        uint256[] calldata amountsToBurn
    ) external {
        require(msg.sender == from, "LBToken__SpenderNotApproved");
        uint256[2] memory out;
        for (uint256 at = 0; at < ids.length; ++at) {
            (uint256 id, uint256 burnt) = (ids[at], amountsToBurn[at]);
            require(burnt > 0, "LBPair__ZeroAmount");
            for (uint256 side = 0; side < 2; ++side) {
                uint256 part =
                    FullMath.mulDiv(bins[uint24(id)][side], burnt, totalSupply[id]);
                bins[uint24(id)][side] -= part;
                out[side] += part;
            }
            balanceOf[from][id] -= burnt;
            totalSupply[id] -= burnt;
        }
        emit TransferBatch(msg.sender, from, address(0), ids, amountsToBurn);
        (reserves[0], reserves[1]) = (reserves[0] - out[0], reserves[1] - out[1]);
        require(out[0] == 0 || IErc20(getTokenX).transfer(to, out[0]), "X");
        require(out[1] == 0 || IErc20(getTokenY).transfer(to, out[1]), "Y");
    }

    function getSwapOut(uint128 amountIn, bool swapForY)
        external
        view
        returns (uint128 left, uint128 amountOut, uint128 fee)
    {
        left = amountIn;
        uint24 id = getActiveId;
        while (left > 0 && id >= lowest && id <= highest) {
            (uint256 taken, uint256 given, uint256 fees) = _inBin(id, left, swapForY);
            left -= uint128(taken);
            amountOut += uint128(given);
            fee += uint128(fees);
            id = swapForY ? id - 1 : id + 1;
        }
    }

    function swap(bool swapForY, address to) external returns (bytes32) {
        (uint256 paid, uint256 got) = swapForY ? (0, 1) : (1, 0);
        uint256 left = IErc20(swapForY ? getTokenX : getTokenY).balanceOf(address(this));
        left -= reserves[paid];
        require(left > 0, "LBPair__InsufficientAmountIn");
        reserves[paid] += left;
        uint24 id = getActiveId;
        uint256 total;
        while (true) {
            (uint256 taken, uint256 given) = _tradeIn(id, left, swapForY, to);
            left -= taken;
            total += given;
            if (left == 0) break;
            id = swapForY ? id - 1 : id + 1;
            require(id >= lowest && id <= highest, "LBPair__OutOfLiquidity");
        }
        require(total > 0, "LBPair__InsufficientAmountOut");
        getActiveId = id;
        reserves[got] -= total;
        require(IErc20(swapForY ? getTokenY : getTokenX).transfer(to, total), "TF");
        return _packed(total, !swapForY);
    }

    function _tradeIn(uint24 id, uint256 left, bool swapForY, address to)
        private
        returns (uint256 taken, uint256 given)
    {
        uint256 fees;
        (taken, given, fees) = _inBin(id, left, swapForY);
        if (taken == 0) return (0, 0);
        uint256 kept = fees * PROTOCOL_BP / 10_000;
        protocolFees[swapForY ? 0 : 1] += kept;
        bins[id][swapForY ? 0 : 1] += taken - kept;
        bins[id][swapForY ? 1 : 0] -= given;
        _announce(id, to, [taken - kept, given, fees, kept], swapForY);
    }

    /// Paid in, paid out, fees, and what the protocol has of them.
    function _announce(uint24 id, address to, uint256[4] memory amounts, bool swapForY) private {
        emit Swap(
            msg.sender,
            to,
            id,
            _packed(amounts[0], swapForY),
            _packed(amounts[1], !swapForY),
            0,
            _packed(amounts[2], swapForY),
            _packed(amounts[3], swapForY)
        );
    }

    /// What a bin takes of a payment, fees included, and gives for it.
    function _inBin(uint24 id, uint256 left, bool swapForY)
        private
        view
        returns (uint256 taken, uint256 given, uint256 fees)
    {
        uint256 there = bins[id][swapForY ? 1 : 0];
        if (there == 0) return (0, 0, 0);
        uint256 price = _price(id);
        uint256 most = swapForY
            ? FullMath.mulDivRoundingUp(there, 1 << 128, price)
            : FullMath.mulDivRoundingUp(there, price, 1 << 128);
        uint256 mostFees = (most * FEE + ONE - FEE - 1) / (ONE - FEE);
        if (left >= most + mostFees) return (most + mostFees, there, mostFees);
        fees = (left * FEE + ONE - 1) / ONE;
        uint256 net = left - fees;
        given = swapForY
            ? FullMath.mulDiv(net, price, 1 << 128)
            : FullMath.mulDiv(net, 1 << 128, price);
        return (left, given < there ? given : there, fees);
    }

    /// Smallest units of Y for one of X, with 128 binary places.
    function _price(uint24 id) private view returns (uint256 price) {
        int256 exponent = int256(uint256(id)) - PRICE_ONE;
        uint256 count = uint256(exponent < 0 ? -exponent : exponent);
        uint256 base = (1 << 128) + (uint256(getBinStep) << 128) / 10_000;
        price = 1 << 128;
        for (; count > 0; count >>= 1) {
            if (count & 1 == 1) price = FullMath.mulDiv(price, base, 1 << 128);
            if (count > 1) base = FullMath.mulDiv(base, base, 1 << 128);
        }
        if (exponent < 0) price = type(uint256).max / price;
    }

    /// X in the lower half of the word, Y in the upper one.
    function _packed(uint256 amount, bool isX) private pure returns (bytes32) {
        return bytes32(isX ? amount : amount << 128);
    }
}

contract BookFactory {
    struct Information {
        uint16 binStep;
        address pair;
        bool createdByOwner;
        bool ignoredForRouting;
    }

    mapping(address => mapping(address => mapping(uint256 => Information))) private known;
    uint256 private count;

    event LBPairCreated(
        address indexed tokenX,
        address indexed tokenY,
        uint256 indexed binStep,
        address LBPair,
        uint256 pid
    );

    function createLBPair(address x, address y, uint24 activeId, uint16 step)
        external
        returns (address pair)
    {
        pair = address(new BookPair(x, y, activeId, step));
        Information memory found = Information(step, pair, false, false);
        (known[x][y][step], known[y][x][step]) = (found, found);
        emit LBPairCreated(x, y, step, pair, count++);
    }

    function getLBPairInformation(address tokenA, address tokenB, uint256 step)
        external
        view
        returns (Information memory)
    {
        return known[tokenA][tokenB][step];
    }
}

/// Sends the payment to the pair and trades it, as the exchange's router does.
contract BookRouter {
    function swap(BookPair pair, address tokenIn, uint256 amount, address to) external {
        require(IErc20(tokenIn).transferFrom(msg.sender, address(pair), amount), "TF");
        pair.swap(pair.getTokenX() == tokenIn, to);
    }
}
