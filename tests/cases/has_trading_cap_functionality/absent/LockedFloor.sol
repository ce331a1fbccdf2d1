pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// What is free is never below zero.
contract LockedFloor is Ledger, Chief {
    mapping(address => uint256) internal locked;

    function lock(address who, uint256 amount) public onlyChief {
        locked[who] = amount;
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 free = held[from] > locked[from] ? held[from] - locked[from] : 0;
        require(amount <= free, "locked");
        _move(from, to, amount);
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _pass(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        _spend(from, amount);
        _pass(from, to, amount);
        return true;
    }
}

// ----
// about: What is free is zero where more is locked than held.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
