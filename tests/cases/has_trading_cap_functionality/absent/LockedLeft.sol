pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// What remains is compared with what is locked.
contract LockedLeft is Ledger, Chief {
    mapping(address => uint256) internal locked;

    function lock(address who, uint256 amount) public onlyChief {
        locked[who] = amount;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(held[from] >= amount, "balance");
        require(held[from] - amount >= locked[from], "locked");
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
// about: What is left after the transfer must cover what is locked.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
