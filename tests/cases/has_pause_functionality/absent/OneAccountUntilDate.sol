pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// What one stored account holds cannot move before a stored date.
contract OneAccountUntilDate is Ledger, Chief {
    address internal locked = msg.sender;
    uint256 internal until = 1700000000;

    function setLock(address who, uint256 date) public onlyChief {
        locked = who;
        until = date;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(block.timestamp >= until || from != locked, "locked");
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
// about: The tokens of one account are locked until a date; all others move theirs.
// expect: has_owner_functionality
// expect: timebomb
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
