pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Whoever is marked sends zero instead of the amount.
contract ZeroedAmount is Ledger, Chief {
    mapping(address => bool) internal marked;

    function mark(address who, bool value) public onlyChief {
        marked[who] = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (marked[from]) {
            amount = 0;
        }
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
// about: A marked sender moves nothing, whatever was asked.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
