pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Selling locks the seller for a while, unless the chief has switched the lock off.
contract LockSwitchedOff is Ledger, Chief {
    mapping(address => uint256) internal lockedUntil;
    bool internal isOff;
    uint256 internal span = 60;
    address internal pair = msg.sender;

    function setLock(bool off, uint256 seconds_) public onlyChief {
        isOff = off;
        span = seconds_;
    }

    function setPair(address who) public onlyChief {
        pair = who;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (to == pair) {
            require(lockedUntil[from] < block.timestamp || isOff, "locked");
            lockedUntil[from] = block.timestamp + span;
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
// about: A sale locks the seller; a switch lets everybody pass all the same.
// expect: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
// unsure: has_pause_functionality
// unsure: pause_status_can_be_modified
