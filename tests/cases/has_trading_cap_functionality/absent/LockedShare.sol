pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A part of a balance that the chief locked cannot be sent.
contract LockedShare is Ledger, Chief {
    mapping(address => uint256) internal locked;

    function lock(address who, uint256 amount) public onlyChief {
        locked[who] = amount;
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

    function _pass(address from, address to, uint256 amount) internal {
        require(held[from] >= locked[from], "locked");
        require(held[from] - locked[from] >= amount, "locked");
        _move(from, to, amount);
    }
}

// ----
// about: A part of a balance that the chief locked cannot be sent.
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
