// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Shares of bins as tokens, many kinds in one contract, as Liquidity Book's pairs and Infinity's
/// position manager for bins keep them.
abstract contract BinTokens {
    mapping(address => mapping(uint256 => uint256)) public balanceOf;
    mapping(uint256 => uint256) public totalSupply;

    event TransferBatch(
        address indexed sender,
        address indexed from,
        address indexed to,
        uint256[] ids,
        uint256[] amounts
    );

    function balanceOfBatch(address[] calldata owners, uint256[] calldata ids)
        external
        view
        returns (uint256[] memory balances)
    {
        require(owners.length == ids.length, "InvalidLength");
        balances = new uint256[](ids.length);
        for (uint256 at = 0; at < ids.length; ++at) {
            balances[at] = balanceOf[owners[at]][ids[at]];
        }
    }

    function batchTransferFrom(
        address from,
        address to,
        uint256[] calldata ids,
        uint256[] calldata amounts
    ) external {
        require(msg.sender == from, "SpenderNotApproved");
        for (uint256 at = 0; at < ids.length; ++at) {
            balanceOf[from][ids[at]] -= amounts[at];
            balanceOf[to][ids[at]] += amounts[at];
        }
        emit TransferBatch(msg.sender, from, to, ids, amounts);
    }
}
