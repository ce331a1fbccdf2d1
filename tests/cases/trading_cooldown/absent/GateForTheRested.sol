pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The gate is asked of addresses that have not sent for long, and of new ones.
contract GateForTheRested is Ledger, Chief {
    mapping(address => uint256) internal lastSent;
    bool internal open;

    function setOpen(bool value) public onlyChief {
        open = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (block.timestamp > lastSent[from] + 3600) {
            require(open, "closed");
            lastSent[from] = block.timestamp;
        }
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
// about: Who has just sent passes the gate without being asked, so nobody waits after a transfer.
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: timebomb
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
