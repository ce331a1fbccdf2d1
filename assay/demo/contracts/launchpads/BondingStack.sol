// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// A pair as Virtuals creates one for each token: the second reserve opens with VIRTUAL that nobody
/// paid in.
contract BondingPair {
    uint256 private constant FAKE = 6_300 ether;

    address public immutable tokenA;
    address public immutable tokenB;
    uint256 public balance;
    uint256 public assetBalance;

    constructor(address token, address quote) {
        (tokenA, tokenB) = (token, quote);
    }

    function put(uint256 tokens, uint256 paid) external {
        (balance, assetBalance) = (tokens, paid);
    }

    function getReserves() external view returns (uint256, uint256) {
        return (balance, assetBalance + FAKE);
    }
}

/// The registry of Virtuals from its second generation on. Its list of cores is not in the record,
/// because the platform's automatic getter leaves lists out.
contract Bonding {
    struct Data {
        address token;
        string name;
        string _name;
        string ticker;
        uint256 supply;
        uint256 price;
        uint256 marketCap;
        uint256 liquidity;
        uint256 volume;
        uint256 volume24H;
        uint256 prevPrice;
        uint256 lastUpdated;
    }

    struct Token {
        address creator;
        address token;
        address pair;
        address agentToken;
        Data data;
        string description;
        string image;
        string twitter;
        string telegram;
        string youtube;
        string website;
        bool trading;
        bool tradingOnUniswap;
        uint256 applicationId;
        uint256 initialPurchase;
        uint256 virtualId;
        bool launchExecuted;
    }

    mapping(address => Token) private _tokens;

    function launch(address token, address quote) external returns (address pair) {
        pair = address(new BondingPair(token, quote));
        Token storage made = _tokens[token];
        (made.creator, made.token, made.pair, made.agentToken) = (msg.sender, token, pair, token);
        (made.data.token, made.data.name, made.data.ticker) = (token, "An agent of some length", "AGENT");
        made.description = "A description that takes more than one word of the answer, as most do.";
        (made.image, made.website, made.virtualId) = ("image", "website", 50_000);
    }

    function setStage(address token, bool trading, bool tradingOnUniswap) external {
        (_tokens[token].trading, _tokens[token].tradingOnUniswap) = (trading, tradingOnUniswap);
    }

    /// As if each member were returned for itself: a struct's encoding without its offset.
    function tokenInfo(address token) external view {
        bytes memory answer = abi.encode(_tokens[token]);
        assembly {
            return(add(answer, 64), sub(mload(answer), 32))
        }
    }
}
