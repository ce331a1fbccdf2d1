pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A stored amount only decides when collected tokens move on.
contract SwapThreshold is Ledger, Chief {
    uint256 internal threshold = 1e20;

    function setThreshold(uint256 value) public onlyChief {
        threshold = value;
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
        uint256 collected = held[address(this)];
        if (collected >= threshold && from != address(this)) {
            _move(address(this), chief, collected);
        }
        _move(from, to, amount);
    }
}

// ----
// about: A stored amount only decides when collected tokens move on.
// expect: has_owner_functionality
