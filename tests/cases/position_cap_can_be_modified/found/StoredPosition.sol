pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The largest balance is stored, with exemptions and a setter.
contract StoredPosition is Ledger, Chief {
    uint256 internal mostHeld = 2e22;
    mapping(address => bool) internal exempt;

    function setMostHeld(uint256 value) public onlyChief {
        mostHeld = value;
    }

    function setExempt(address who, bool value) public onlyChief {
        exempt[who] = value;
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
        if (!exempt[to]) {
            require(held[to] + amount <= mostHeld, "too much for one");
        }
        _move(from, to, amount);
    }
}

// ----
// about: The largest balance is stored, with exemptions and a setter.
// expect: has_owner_functionality
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: position_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
