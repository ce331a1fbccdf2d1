// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IMakerToken {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// A factory with the registry and the event of DODO's for vending machines.
contract DodoFactory {
    mapping(address => mapping(address => address[])) public _REGISTRY_;

    event NewDVM(address baseToken, address quoteToken, address creator, address dvm);

    function open(address base, address quote, uint256 price) external {
        DodoMaker maker = new DodoMaker(base, quote, price);
        _REGISTRY_[base][quote].push(address(maker));
        emit NewDVM(base, quote, tx.origin, address(maker));
    }
}

/// A proactive market maker whose slope is zero, so that it trades at its price alone, as long as it
/// has what is bought.
contract DodoMaker {
    uint256 private constant ONE = 1e18;
    uint256 private constant FEE = 3e15;

    address public immutable _BASE_TOKEN_;
    address public immutable _QUOTE_TOKEN_;
    uint256 public immutable getMidPrice;
    uint256 private baseReserve;
    uint256 private quoteReserve;

    event DODOSwap(
        address fromToken,
        address toToken,
        uint256 fromAmount,
        uint256 toAmount,
        address trader,
        address receiver
    );

    constructor(address base, address quote, uint256 price) {
        (_BASE_TOKEN_, _QUOTE_TOKEN_, getMidPrice) = (base, quote, price);
    }

    function getVaultReserve() external view returns (uint256, uint256) {
        return (baseReserve, quoteReserve);
    }

    /// Stands for buying shares.
    function sync() external {
        baseReserve = IMakerToken(_BASE_TOKEN_).balanceOf(address(this));
        quoteReserve = IMakerToken(_QUOTE_TOKEN_).balanceOf(address(this));
    }

    function querySellBase(address, uint256 amount) public view returns (uint256 got, uint256 fee) {
        got = amount * getMidPrice / ONE;
        if (got > quoteReserve) got = quoteReserve;
        got -= got * FEE / ONE;
        fee = 0;
    }

    function querySellQuote(address, uint256 amount) public view returns (uint256 got, uint256 fee) {
        got = amount * ONE / getMidPrice;
        if (got > baseReserve) got = baseReserve;
        got -= got * FEE / ONE;
        fee = 0;
    }

    function sellBase(address to) external returns (uint256 got) {
        uint256 held = IMakerToken(_BASE_TOKEN_).balanceOf(address(this));
        uint256 paid = held - baseReserve;
        (got,) = querySellBase(tx.origin, paid);
        require(IMakerToken(_QUOTE_TOKEN_).transfer(to, got), "not sent");
        baseReserve = held;
        quoteReserve = IMakerToken(_QUOTE_TOKEN_).balanceOf(address(this));
        emit DODOSwap(_BASE_TOKEN_, _QUOTE_TOKEN_, paid, got, msg.sender, to);
    }

    function sellQuote(address to) external returns (uint256 got) {
        uint256 held = IMakerToken(_QUOTE_TOKEN_).balanceOf(address(this));
        uint256 paid = held - quoteReserve;
        (got,) = querySellQuote(tx.origin, paid);
        require(IMakerToken(_BASE_TOKEN_).transfer(to, got), "not sent");
        quoteReserve = held;
        baseReserve = IMakerToken(_BASE_TOKEN_).balanceOf(address(this));
        emit DODOSwap(_QUOTE_TOKEN_, _BASE_TOKEN_, paid, got, msg.sender, to);
    }
}

/// Sends what is sold to the market maker and has it trade, as DODO's own routes do.
contract DodoRouter {
    function swap(DodoMaker maker, address tokenIn, uint256 amount) external {
        require(IMakerToken(tokenIn).transferFrom(msg.sender, address(maker), amount), "not paid");
        if (maker._BASE_TOKEN_() == tokenIn) maker.sellBase(msg.sender);
        else maker.sellQuote(msg.sender);
    }
}
