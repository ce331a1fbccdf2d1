pragma solidity >=0.8.0;

import "../../base/Lender.sol";
import "../../base/Chief.sol";

/// Balance and locked amount in one slot.
contract LockedStruct is Lender, Chief {
    struct Purse {
        uint128 all;
        uint128 locked;
    }

    mapping(address => Purse) internal purse;
    uint256 public totalSupply = 1e24;

    constructor() {
        purse[msg.sender].all = 1e24;
    }

    function balanceOf(address who) public view returns (uint256) {
        return purse[who].all;
    }

    function lock(address who, uint128 amount) public onlyChief {
        purse[who].locked = amount;
    }

    function _pass(address from, address to, uint256 amount) internal {
        Purse storage mine = purse[from];
        require(amount <= mine.all - mine.locked, "locked");
        mine.all -= uint128(amount);
        purse[to].all += uint128(amount);
        emit Transfer(from, to, amount);
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
// about: Balance and locked part share a slot.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
