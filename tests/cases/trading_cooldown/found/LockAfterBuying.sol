pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Receiving locks the receiver for a time.
contract LockAfterBuying is Ledger, Chief {
    mapping(address => uint256) internal lockedUntil;
    uint256 internal span = 300;

    function setSpan(uint256 value) public onlyChief {
        span = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(lockedUntil[from] <= block.timestamp, "locked");
        lockedUntil[to] = block.timestamp + span;
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
// about: Whoever receives is locked for a stored time.
// expect: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
