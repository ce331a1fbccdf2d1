pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A stored largest position; the recipient's balance is asked for by a call to itself.
contract PositionAskedOfItself is Ledger, Chief {
    bool internal isLimited = true;
    uint256 internal largest = 1e22;

    function setLargest(uint256 value) public onlyChief {
        largest = value;
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
        if (isLimited) {
            require(amount + this.balanceOf(to) <= largest, "too much");
        }
        _move(from, to, amount);
    }
}

// ----
// about: A stored largest position; the recipient's balance is asked for by a call to itself.
// expect: external_call
// expect: has_owner_functionality
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: position_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
