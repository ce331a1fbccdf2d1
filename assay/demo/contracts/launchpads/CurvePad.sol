// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "../zoo/base/Erc20.sol";

interface IRouter {
    function addLiquidityETH(
        address token,
        uint256 tokens,
        uint256 leastTokens,
        uint256 leastNative,
        address to,
        uint256 deadline
    ) external payable returns (uint256, uint256, uint256);
}

/// A thousand million tokens, all with the platform that creates it.
contract PadToken is Erc20 {
    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {
        _issue(msg.sender, 1_000_000_000 ether - SUPPLY);
    }
}

/// A bonding-curve platform with the reads and events of four.meme's second manager: tokens are
/// sold along (paid + virtual) * (left + virtual) = k for the native coin, sold out they stop, and
/// somebody then turns what was raised into a pool.
contract CurvePad {
    uint256 private constant FOR_SALE = 800_000_000 ether;
    uint256 private constant VIRTUAL_TOKENS = FOR_SALE / 3 * 4;
    uint256 private constant TRADING = 0;
    uint256 private constant ADDING_LIQUIDITY = 2;
    uint256 private constant COMPLETED = 3;

    struct Info {
        address base;
        address quote;
        uint256 template;
        uint256 totalSupply;
        uint256 maxOffers;
        uint256 maxRaising;
        uint256 launchTime;
        uint256 offers;
        uint256 funds;
        uint256 lastPrice;
        uint256 K;
        uint256 T;
        uint256 status;
    }

    event TokenCreate(
        address creator,
        address token,
        uint256 requestId,
        string name,
        string symbol,
        uint256 totalSupply,
        uint256 launchTime,
        uint256 launchFee
    );
    event TokenPurchase(
        address token,
        address account,
        uint256 price,
        uint256 amount,
        uint256 cost,
        uint256 fee,
        uint256 offers,
        uint256 funds
    );
    event TokenSale(
        address token,
        address account,
        uint256 price,
        uint256 amount,
        uint256 cost,
        uint256 fee,
        uint256 offers,
        uint256 funds
    );
    event TradeStop(address token);
    event LiquidityAdded(address base, uint256 offers, address quote, uint256 funds);

    IRouter private immutable _router;
    mapping(address => Info) private _infos;
    uint256 private _count;

    constructor(IRouter router) {
        _router = router;
    }

    function createToken(string calldata name, string calldata symbol, uint256 maxRaising)
        external
        returns (address token)
    {
        PadToken made = new PadToken(name, symbol);
        token = address(made);
        Info storage info = _infos[token];
        info.base = token;
        info.totalSupply = made.totalSupply();
        info.maxOffers = FOR_SALE;
        info.maxRaising = maxRaising;
        info.launchTime = block.timestamp;
        info.offers = FOR_SALE;
        info.K = _virtualQuote(info) * VIRTUAL_TOKENS;
        info.T = VIRTUAL_TOKENS;
        emit TokenCreate(
            msg.sender, token, _count++, name, symbol, info.totalSupply, block.timestamp, 0
        );
    }

    /// What is more than the curve takes goes back.
    function buyToken(address token) external payable {
        Info storage info = _infos[token];
        require(info.base == token && info.status == TRADING, "not trading");
        uint256 room = info.maxRaising - info.funds;
        uint256 cost = msg.value < room ? msg.value : room;
        uint256 funds = info.funds + cost;
        uint256 left = cost == room ? 0 : _left(info, funds);
        uint256 amount = info.offers - left;
        (info.offers, info.funds, info.lastPrice) = (left, funds, cost * 1 ether / amount);
        PadToken(token).transfer(msg.sender, amount);
        emit TokenPurchase(token, msg.sender, info.lastPrice, amount, cost, 0, left, funds);
        if (left == 0) {
            info.status = ADDING_LIQUIDITY;
            emit TradeStop(token);
        }
        _pay(msg.sender, msg.value - cost);
    }

    function sellToken(address token, uint256 amount) external {
        Info storage info = _infos[token];
        require(info.base == token && info.status == TRADING, "not trading");
        PadToken(token).transferFrom(msg.sender, address(this), amount);
        uint256 left = info.offers + amount;
        uint256 paid = info.K / (left + VIRTUAL_TOKENS - FOR_SALE) + 1 - _virtualQuote(info);
        uint256 cost = info.funds > paid ? info.funds - paid : 0;
        (info.offers, info.funds, info.lastPrice) = (left, info.funds - cost, cost * 1 ether / amount);
        emit TokenSale(token, msg.sender, info.lastPrice, amount, cost, 0, left, info.funds);
        _pay(msg.sender, cost);
    }

    function addLiquidity(address token) external {
        Info storage info = _infos[token];
        require(info.status == ADDING_LIQUIDITY, "not sold out");
        info.status = COMPLETED;
        uint256 tokens = info.totalSupply - FOR_SALE;
        PadToken(token).approve(address(_router), tokens);
        _router.addLiquidityETH{value: info.funds}(
            token, tokens, 0, 0, address(0xdead), block.timestamp
        );
        emit LiquidityAdded(token, tokens, address(0), info.funds);
    }

    function _tokenInfos(address token) external view returns (Info memory) {
        return _infos[token];
    }

    function _left(Info storage info, uint256 funds) private view returns (uint256) {
        return info.K / (funds + _virtualQuote(info)) - (VIRTUAL_TOKENS - FOR_SALE);
    }

    function _virtualQuote(Info storage info) private view returns (uint256) {
        return info.maxRaising / 3;
    }

    function _pay(address to, uint256 amount) private {
        if (amount == 0) return;
        (bool ok,) = to.call{value: amount}("");
        require(ok, "not paid");
    }
}

/// The reads of four.meme's third helper, in its own order of the same facts.
contract CurvePadHelper {
    struct TokenInfo {
        uint256 version;
        address tokenManager;
        address quote;
        uint256 lastPrice;
        uint256 tradingFeeRate;
        uint256 minTradingFee;
        uint256 launchTime;
        uint256 offers;
        uint256 maxOffers;
        uint256 funds;
        uint256 maxFunds;
        bool liquidityAdded;
    }

    CurvePad private immutable _manager;

    constructor(CurvePad manager) {
        _manager = manager;
    }

    function getTokenInfo(address token) external view returns (TokenInfo memory told) {
        CurvePad.Info memory info = _manager._tokenInfos(token);
        if (info.base == address(0)) return told;
        told.version = 2;
        told.tokenManager = address(_manager);
        told.quote = info.quote;
        told.lastPrice = info.lastPrice;
        told.launchTime = info.launchTime;
        told.offers = info.offers;
        told.maxOffers = info.maxOffers;
        told.funds = info.funds;
        told.maxFunds = info.maxRaising;
        told.liquidityAdded = info.status == 3;
    }
}
