pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A transfer soon after another one is noted, not refused; the gate is open or closed for all.
contract NotedRepeats is Ledger, Chief {
    mapping(address => uint256) internal lastSent;
    mapping(address => uint256) internal repeats;
    bool internal open;

    function setOpen(bool value) public onlyChief {
        open = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (lastSent[from] + 60 > block.timestamp) {
            repeats[from] += 1;
        } else {
            lastSent[from] = block.timestamp;
        }
        require(open, "closed");
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
// about: The time since the last transfer decides what is counted; whether it passes, the gate alone.
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: timebomb
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
