pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// One list exempts from the cooldown, another one refuses.
contract CooldownAndList is Ledger, Chief {
    mapping(address => bool) internal exempt;
    mapping(address => bool) internal marked;
    mapping(address => uint256) internal last;

    function set(address who, bool isExempt, bool isMarked) public onlyChief {
        exempt[who] = isExempt;
        marked[who] = isMarked;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(!marked[from], "marked");
        if (!exempt[from]) {
            require(block.timestamp >= last[from] + 60, "wait");
            last[from] = block.timestamp;
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
// about: A cooldown with exemptions, and a list that refuses.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
