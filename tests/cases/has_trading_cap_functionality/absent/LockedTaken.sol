pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Balance minus locked amount.
contract LockedTaken is Ledger, Chief {
    mapping(address => uint256) internal locked;

    function lock(address who, uint256 amount) public onlyChief {
        locked[who] = amount;
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 free = held[from] - locked[from];
        require(amount <= free, "locked");
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
// about: What is locked is taken from the balance before the amount is compared.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
