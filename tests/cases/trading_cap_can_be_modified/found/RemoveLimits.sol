pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A constant cap that the chief can switch off for good.
contract RemoveLimits is Ledger, Chief {
    bool internal limitsOn = true;

    function removeLimits() public onlyChief {
        limitsOn = false;
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
        if (limitsOn) {
            require(amount <= 1e22, "too large");
        }
        _move(from, to, amount);
    }
}

// ----
// about: A constant cap that the chief can switch off for good.
// expect: has_owner_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: trading_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
