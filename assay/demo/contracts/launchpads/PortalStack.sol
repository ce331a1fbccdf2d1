// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// The read of flap's portal, over records that are put in from outside.
contract Portal {
    struct TokenState {
        uint8 status;
        uint256 reserve;
        uint256 circulatingSupply;
        uint256 price;
        uint8 tokenVersion;
        uint256 r;
        uint256 h;
        uint256 k;
        uint256 dexSupplyThresh;
        address quoteTokenAddress;
        bool nativeToQuoteSwapEnabled;
        bytes32 extensionID;
        uint256 buyTaxRate;
        uint256 sellTaxRate;
        address pool;
        uint256 progress;
        uint8 lpFeeProfile;
        uint8 dexId;
    }

    error TokenNotFound(address token);

    mapping(address => TokenState) private _tokens;

    function put(
        address token,
        uint8 status,
        uint256 reserve,
        uint256 circulatingSupply,
        uint256 dexSupplyThresh,
        address quote
    ) external {
        TokenState storage state = _tokens[token];
        state.status = status;
        state.reserve = reserve;
        state.circulatingSupply = circulatingSupply;
        state.dexSupplyThresh = dexSupplyThresh;
        state.quoteTokenAddress = quote;
        (state.tokenVersion, state.r, state.h, state.k) = (2, 6.14 ether, 107_036_752 ether, 6_797_205 ether);
    }

    function getTokenV8Safe(address token) external view returns (TokenState memory state) {
        state = _tokens[token];
        if (state.status == 0) revert TokenNotFound(token);
    }
}

/// The reads of Printr's singleton, for which an unknown token is an empty curve.
contract CurveSingleton {
    struct TokenCurve {
        address basePair;
        uint16 totalCurves;
        uint256 maxTokenSupply;
        uint256 virtualReserve;
        uint256 reserve;
        uint256 completionThreshold;
    }

    mapping(address => TokenCurve) private _curves;

    function put(address token, TokenCurve calldata curve) external {
        _curves[token] = curve;
    }

    function getCurve(address token) external view returns (TokenCurve memory) {
        return _curves[token];
    }
}
