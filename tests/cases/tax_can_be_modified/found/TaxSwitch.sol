pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A constant rate behind a switch.
contract TaxSwitch is Ledger, Chief {
    bool internal taxed = true;

    function stopTax() public onlyChief {
        taxed = false;
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
        if (taxed) {
            uint256 fee = amount / 25;
            _move(from, chief, fee);
            amount -= fee;
        }
        _move(from, to, amount);
    }
}

// ----
// about: A constant rate behind a switch.
// expect: has_owner_functionality
// expect: has_tax_functionality
// expect: tax_can_be_modified
