pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The largest transfer is a share of the supply, and the share is a setting.
contract CapByShare is Ledger, Chief {
    uint256 internal share = 100;

    function setShare(uint256 value) public onlyChief {
        share = value;
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
        if (from != chief && to != chief) {
            require(amount <= issued * share / 10000, "too large");
        }
        _move(from, to, amount);
    }
}

// ----
// about: The largest transfer is a share of the supply, and the share is a setting.
// expect: has_owner_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: trading_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
