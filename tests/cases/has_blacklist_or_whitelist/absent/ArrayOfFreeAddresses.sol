pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The array frees from the fee and refuses nobody.
contract ArrayOfFreeAddresses is Ledger, Chief {
    address[] internal free;

    function add(address who) public onlyChief {
        free.push(who);
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 fee = amount / 50;
        for (uint256 i = 0; i < free.length; i++) {
            if (free[i] == from) {
                fee = 0;
            }
        }
        if (fee > 0) {
            _move(from, address(this), fee);
        }
        _move(from, to, amount - fee);
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
// about: Addresses in a stored array pay no fee.
// expect: has_owner_functionality
// expect: has_tax_functionality
// unsure: tax_can_be_modified
