// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// A price feed with the interface of a Chainlink aggregator. Always fresh unless made stale.
contract NativeUsdFeed {
    uint8 public constant decimals = 8;
    uint256 public constant version = 4;
    string public constant description = "ETH / USD";

    address public immutable keeper = msg.sender;
    int256 private _answer;
    uint256 private _updatedAt;
    uint80 private _round = 1;

    constructor(int256 answer) {
        _answer = answer;
    }

    /// A new price; `updatedAt` 0 means "now, whenever asked".
    function set(int256 answer, uint256 updatedAt) external {
        require(msg.sender == keeper, "not the keeper");
        _answer = answer;
        _updatedAt = updatedAt;
        _round += 1;
    }

    function latestAnswer() external view returns (int256) {
        return _answer;
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        uint256 time = _updatedAt == 0 ? block.timestamp : _updatedAt;
        return (_round, _answer, time, time, _round);
    }
}
