pragma solidity >=0.5.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// What is locked falls with time and must stay.
contract LockedBySchedule is Ledger, Chief {
    struct Grant {
        uint256 amount;
        uint256 start;
        uint256 span;
    }

    mapping(address => Grant) internal grants;

    function grant(address who, uint256 amount, uint256 span) public onlyChief {
        grants[who] = Grant(amount, block.timestamp, span);
    }

    function _locked(address who) internal view returns (uint256) {
        Grant memory g = grants[who];
        if (g.amount == 0 || block.timestamp >= g.start + g.span) {
            return 0;
        }
        return g.amount - (g.amount * (block.timestamp - g.start)) / g.span;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(held[from] >= amount, "balance");
        require(amount <= held[from] - _locked(from), "locked");
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
// about: A share of what was granted is free; the rest must stay.
// expect: has_owner_functionality
// expect: timebomb
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
