pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The exemption stands behind the comparison.
contract CooldownExemptionsBehind is Ledger, Chief {
    mapping(address => bool) internal exempt;
    mapping(address => uint256) internal last;
    bool internal waits = true;

    function setExempt(address who, bool value) public onlyChief {
        exempt[who] = value;
    }

    function setWaits(bool value) public onlyChief {
        waits = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (waits) {
            require(block.number > last[to] || exempt[to], "wait");
            last[to] = block.number;
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
// about: Listed addresses are let through where the time is not yet come.
// expect: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
