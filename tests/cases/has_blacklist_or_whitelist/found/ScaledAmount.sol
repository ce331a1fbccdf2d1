pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The list is a factor of the amount.
contract ScaledAmount is Ledger, Chief {
    mapping(address => uint256) internal off;

    function setOff(address who, uint256 value) public onlyChief {
        off[who] = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        _move(from, to, amount * (1 - off[from]));
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
// about: The amount is multiplied by a per-address number that is 0 for those on the list.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
