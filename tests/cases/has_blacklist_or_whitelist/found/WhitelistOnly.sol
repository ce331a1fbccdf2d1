pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Only listed addresses may send or receive, for ever.
contract WhitelistOnly is Ledger, Chief {
    mapping(address => bool) internal allowed;

    function allow(address who) public onlyChief {
        allowed[who] = true;
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
        require(allowed[from], "not allowed");
        require(allowed[to], "not allowed");
        _move(from, to, amount);
    }
}

// ----
// about: Only listed addresses may send or receive, for ever.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
