pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// One opening time for all, which the chief sets.
contract OpensAt is Ledger, Chief {
    uint256 internal opensAt;

    function setOpening(uint256 value) public onlyChief {
        opensAt = value;
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
        require(block.timestamp >= opensAt, "not open");
        _move(from, to, amount);
    }
}

// ----
// about: One opening time for all, which the chief sets.
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: timebomb
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
