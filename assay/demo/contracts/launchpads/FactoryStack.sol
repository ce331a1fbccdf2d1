// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// A curve contract as Pons V2 creates one for each token.
contract TokenCurve {
    address public immutable token;
    uint256 public constant phantomQuote = 1.4 ether;
    uint256 public realQuoteReserve;
    uint256 public sellableTokens;
    bool public graduated;

    constructor(address token_) {
        token = token_;
    }

    function put(uint256 real, uint256 sellable, bool graduated_) external {
        (realQuoteReserve, sellableTokens, graduated) = (real, sellable, graduated_);
    }

    function getReserves() external view returns (uint256 quoteReserve, uint256 tokenReserve) {
        return (realQuoteReserve + phantomQuote, sellableTokens);
    }
}

/// The registry of Pons V2 and its forks, over records that are put in from outside.
contract LaunchFactory {
    struct LaunchedToken {
        address token;
        address curve;
        address deployer;
        address creatorFeeRecipient;
        address pairToken;
        uint256 graduationThreshold;
        uint24 poolFee;
        int24 tickSpacing;
        uint16 creatorTaxBps;
        bool buybackEnabled;
        uint8 phase;
        uint256 sweptQuote;
        uint256 sweptTokens;
        uint256 sweptAt;
        bool exists;
    }

    mapping(address => LaunchedToken) private _launched;

    function launch(address token, address pairToken) external returns (address curve) {
        curve = address(new TokenCurve(token));
        LaunchedToken storage made = _launched[token];
        (made.token, made.curve, made.deployer, made.pairToken) = (token, curve, msg.sender, pairToken);
        (made.graduationThreshold, made.tickSpacing, made.exists) = (4.2 ether, 200, true);
    }

    function setPhase(address token, uint8 phase) external {
        _launched[token].phase = phase;
    }

    function getLaunchedToken(address token) external view returns (LaunchedToken memory) {
        return _launched[token];
    }
}

/// A token that names a factory, whether or not the factory agrees.
contract ClaimingToken {
    string public constant name = "Claiming";
    string public constant symbol = "CLAIM";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1_000_000_000 ether;
    address public immutable launchFactory;

    constructor(address factory) {
        launchFactory = factory;
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }
}
