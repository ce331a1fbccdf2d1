pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The largest transfer is stored and the chief may change it.
contract StoredCap is Ledger, Chief {
    uint256 internal most = 1e22;

    function setMost(uint256 value) public onlyChief {
        most = value;
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
        require(amount <= most, "too large");
        _move(from, to, amount);
    }
}

// ----
// about: The largest transfer is stored and the chief may change it.
// expect: has_owner_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: trading_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
