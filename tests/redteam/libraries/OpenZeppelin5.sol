// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "openzeppelin-5/token/ERC20/extensions/ERC1363.sol";
import "openzeppelin-5/token/ERC20/extensions/ERC20Burnable.sol";
import "openzeppelin-5/token/ERC20/extensions/ERC20FlashMint.sol";
import "openzeppelin-5/token/ERC20/extensions/ERC20Permit.sol";
import "openzeppelin-5/token/ERC20/extensions/ERC20Votes.sol";

contract Votes5 is ERC20Permit, ERC20Votes {
    constructor(address, address, address, address maker) ERC20("Votes", "CMP") ERC20Permit("Votes") {
        _mint(maker, 1e24);
    }

    function _update(address from, address to, uint256 value) internal override(ERC20, ERC20Votes) {
        super._update(from, to, value);
    }

    function nonces(address owner) public view override(ERC20Permit, Nonces) returns (uint256) {
        return super.nonces(owner);
    }
}

/// Checkpoints by time, as chains without a steady block time have them.
contract TimedVotes5 is ERC20Votes {
    constructor(address, address, address, address maker) ERC20("Votes", "CMP") EIP712("Votes", "1") {
        _mint(maker, 1e24);
    }

    function clock() public view override returns (uint48) {
        return uint48(block.timestamp);
    }
}

contract Payable5 is ERC1363, ERC20Burnable {
    constructor(address, address, address, address maker) ERC20("Payable", "CMP") {
        _mint(maker, 1e24);
    }
}

contract FlashMint5 is ERC20FlashMint {
    constructor(address, address, address, address maker) ERC20("Flash", "CMP") {
        _mint(maker, 1e24);
    }
}
