pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Nobody buys before a stored date.
contract BuysFromDate is Ledger, Chief {
    address internal pair;
    uint256 internal since = 1700000000;

    function setPair(address who, uint256 date) public onlyChief {
        pair = who;
        since = date;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(block.timestamp >= since || from != pair, "not yet");
        uint256 fee = to == pair ? amount / 100 : 0;
        if (fee > 0) {
            _move(from, address(this), fee);
        }
        _move(from, to, amount - fee);
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
// about: What comes from the pool is refused to everybody until a date that can be set.
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: has_tax_functionality
// expect: pause_status_can_be_modified
// expect: timebomb
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
