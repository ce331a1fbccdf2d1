pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The chief pauses and unpauses all transfers.
contract Pausable is Ledger, Chief {
    bool internal paused;

    function pause() public onlyChief {
        paused = true;
    }

    function unpause() public onlyChief {
        paused = false;
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
        require(!paused, "paused");
        _move(from, to, amount);
    }
}

// ----
// about: The chief pauses and unpauses all transfers.
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
