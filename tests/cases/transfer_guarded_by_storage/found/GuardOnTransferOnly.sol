pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Only transfer asks whether it is open; transferFrom goes on.
contract GuardOnTransferOnly is Ledger, Chief {
    bool internal open;

    function setOpen(bool value) public onlyChief {
        open = value;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        require(open, "closed");
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        _spend(from, amount);
        _move(from, to, amount);
        return true;
    }
}

// ----
// about: Only transfer asks whether it is open; transferFrom goes on.
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: transfer_guarded_by_storage
