// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "openzeppelin-4/token/ERC20/extensions/ERC20Burnable.sol";
import "openzeppelin-4/token/ERC20/extensions/ERC20Snapshot.sol";
import "openzeppelin-4/token/ERC20/extensions/ERC20Votes.sol";
import "openzeppelin-4/token/ERC20/extensions/ERC20VotesComp.sol";

contract Votes4 is ERC20Votes {
    constructor(address, address, address, address maker) ERC20("Votes", "CMP") ERC20Permit("Votes") {
        _mint(maker, 1e24);
    }
}

contract VotesComp4 is ERC20VotesComp {
    constructor(address, address, address, address maker) ERC20("Votes", "CMP") ERC20Permit("Votes") {
        _mint(maker, 1e24);
    }
}

contract Snapshot4 is ERC20Snapshot, ERC20Burnable {
    constructor(address, address, address, address maker) ERC20("Snapshot", "CMP") {
        _mint(maker, 1e24);
    }

    function snapshot() external {
        _snapshot();
    }

    function _beforeTokenTransfer(address from, address to, uint256 amount)
        internal
        override(ERC20, ERC20Snapshot)
    {
        super._beforeTokenTransfer(from, to, amount);
    }
}
