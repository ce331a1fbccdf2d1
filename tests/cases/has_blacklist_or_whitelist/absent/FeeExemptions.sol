pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The list only lets addresses off the tax.
contract FeeExemptions is Ledger, Chief {
    mapping(address => bool) internal exempt;

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
        uint256 fee = exempt[from] || exempt[to] ? 0 : amount / 50;
        if (fee != 0) {
            _move(from, chief, fee);
        }
        _move(from, to, amount - fee);
    }
}

// ----
// about: The list only lets addresses off the tax.
// expect: has_owner_functionality
// expect: has_tax_functionality
