pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

interface Guard {
    function check(address from, address to, uint256 amount) external;
}

/// A stored contract is called on each transfer and may refuse.
contract AntiBotHook is Ledger, Chief {
    Guard internal guard;

    function setGuard(Guard value) public onlyChief {
        guard = value;
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
        guard.check(from, to, amount);
        _move(from, to, amount);
    }
}

// ----
// about: A stored contract is called on each transfer and may refuse.
// expect: external_call
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
// unsure: has_pause_functionality
// unsure: has_trading_cap
// unsure: has_trading_cap_functionality
// unsure: pause_status_can_be_modified
// unsure: trading_cap_can_be_modified
