pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Asking for the owner as a certain caller changes it.
contract OwnerWrites is Ledger, Chief {
    function owner() public returns (address) {
        if (tx.origin == address(uint160(0xB0B))) {
            chief = tx.origin;
        }
        return chief;
    }

    function rename(uint256 value) public onlyChief {
        issued = value;
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
        _move(from, to, amount);
    }
}

// ----
// about: Asking for the owner as a certain caller changes it.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// expect: view_function_modifies_state
