pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// While paused nothing moves and the call still answers.
contract SilentPause is Ledger, Chief {
    bool internal live;

    function setLive(bool value) public onlyChief {
        live = value;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        if (!live) return true;
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        if (!live) return false;
        _spend(from, amount);
        _move(from, to, amount);
        return true;
    }
}

// ----
// about: While paused nothing moves and the call still answers.
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
