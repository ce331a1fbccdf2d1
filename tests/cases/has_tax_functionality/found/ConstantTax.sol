pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Two percent of every transfer go to the chief.
contract ConstantTax is Ledger, Chief {
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
        uint256 fee = amount * 2 / 100;
        _move(from, chief, fee);
        _move(from, to, amount - fee);
    }
}

// ----
// about: Two percent of every transfer go to the chief.
// expect: has_tax_functionality
