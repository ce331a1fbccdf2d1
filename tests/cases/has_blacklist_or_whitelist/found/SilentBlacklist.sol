pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A listed sender's transfers answer true and move nothing.
contract SilentBlacklist is Ledger, Chief {
    mapping(address => bool) internal listed;

    function setListed(address who, bool value) public onlyChief {
        listed[who] = value;
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
        if (listed[from]) return;
        _move(from, to, amount);
    }
}

// ----
// about: A listed sender's transfers answer true and move nothing.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
