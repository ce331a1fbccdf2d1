pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// One percent of each transfer is burnt and lowers the supply.
contract BurnTax is Ledger {
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
        uint256 burnt = amount / 100;
        _move(from, to, amount);
        held[to] -= burnt;
        issued -= burnt;
    }
}

// ----
// about: One percent of each transfer is burnt and lowers the supply.
// expect: has_tax_functionality
// expect: mint_or_burn_function
