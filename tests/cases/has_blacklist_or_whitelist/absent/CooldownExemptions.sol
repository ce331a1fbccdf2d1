pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A list that only exempts from a cooldown.
contract CooldownExemptions is Ledger, Chief {
    mapping(address => bool) internal exempt;
    mapping(address => uint256) internal last;

    function setExempt(address who, bool value) public onlyChief {
        exempt[who] = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
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
// about: Listed addresses are free of the cooldown; nobody is refused for being listed.
// expect: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
