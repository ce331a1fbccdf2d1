pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// What the receiver holds before the transfer is compared with a stored number.
contract BalanceBefore is Ledger, Chief {
    uint256 internal most = 1e22;

    function setMost(uint256 value) public onlyChief {
        most = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(held[to] <= most, "has enough");
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
// about: The balance before the transfer decides, without the amount.
// expect: has_owner_functionality
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: position_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
