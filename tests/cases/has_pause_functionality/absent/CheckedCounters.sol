pragma solidity >=0.8.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Checked sums of stored numbers are no pause and no clock.
contract CheckedCounters is Ledger, Chief {
    uint256 internal count;
    uint256 internal volume;
    uint256 internal until;
    uint256 internal span = 60;
    uint64 internal small;

    function setSpan(uint256 value) public onlyChief {
        span = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        count = count + 1;
        volume += amount;
        until = block.timestamp + span;
        small++;
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
// about: Transfers count, sum up and take the time, all in checked arithmetic.
// expect: has_owner_functionality
