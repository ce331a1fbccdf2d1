// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// A token set up after its creation, to stand behind proxies and clones.
contract UpgradeableToken is Erc20 {
    address public owner;

    constructor() Erc20("", "") {
        owner = msg.sender;
    }

    function initialize(string calldata name_, string calldata symbol_, address owner_) external {
        require(owner == address(0), "already initialized");
        owner = owner_;
        name = name_;
        _symbol = symbol_;
        _issue(owner_, SUPPLY);
    }
}
