pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Whoever has a burden must hold more than they send.
contract InflatedAmount is Ledger, Chief {
    mapping(address => uint256) internal burden;

    function setBurden(address who, uint256 value) public onlyChief {
        burden[who] = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(held[from] >= amount + burden[from], "balance");
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
// about: A per-address number is added to the amount that must be covered.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
