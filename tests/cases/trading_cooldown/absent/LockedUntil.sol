pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The chief locks addresses until a time; transfers never write it.
contract LockedUntil is Ledger, Chief {
    mapping(address => uint256) internal lockedUntil;

    function lock(address who, uint256 until) public onlyChief {
        lockedUntil[who] = until;
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
        require(block.timestamp >= lockedUntil[from], "locked");
        _move(from, to, amount);
    }
}

// ----
// about: The chief locks addresses until a time; transfers never write it.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: timebomb
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
