pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Buys from one pair are limited by a constant.
contract CapForBuyers is Ledger, Chief {
    address internal pair;

    function setPair(address value) public onlyChief {
        pair = value;
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
        if (from == pair) {
            require(amount <= 1e22, "too large");
        }
        _move(from, to, amount);
    }
}

// ----
// about: Buys from one pair are limited by a constant.
// expect: has_owner_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// unsure: has_blacklist_or_whitelist
// unsure: trading_cap_can_be_modified
// unsure: transfer_from_guarded_by_storage
// unsure: transfer_guarded_by_storage
