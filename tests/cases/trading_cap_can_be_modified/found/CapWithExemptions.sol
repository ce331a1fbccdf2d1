pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A stored largest transfer that listed addresses may pass.
contract CapWithExemptions is Ledger, Chief {
    uint256 internal most = 1e22;
    mapping(address => bool) internal exempt;

    function setMost(uint256 value) public onlyChief {
        most = value;
    }

    function setExempt(address who, bool value) public onlyChief {
        exempt[who] = value;
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
        if (!exempt[from] && !exempt[to]) {
            require(amount <= most, "too large");
        }
        _move(from, to, amount);
    }
}

// ----
// about: A stored largest transfer that listed addresses may pass.
// expect: has_owner_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: trading_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
