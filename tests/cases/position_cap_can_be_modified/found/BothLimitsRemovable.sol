pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// An amount cap and a position cap behind one switch.
contract BothLimitsRemovable is Ledger, Chief {
    bool internal limitsOn = true;
    uint256 internal most = 1e22;
    uint256 internal mostHeld = 2e22;
    address internal pair;

    constructor(address value) public {
        pair = value;
    }

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
        if (limitsOn && from == pair) {
            require(amount <= most, "too large");
            require(held[to] + amount <= mostHeld, "too much for one");
        }
        _move(from, to, amount);
    }
}

// ----
// about: An amount cap and a position cap behind one switch.
// expect: has_owner_functionality
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: position_cap_can_be_modified
// expect: trading_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
