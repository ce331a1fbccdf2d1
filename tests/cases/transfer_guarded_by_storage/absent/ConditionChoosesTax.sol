pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A stored condition decides the tax and never refuses.
contract ConditionChoosesTax is Ledger, Chief {
    bool internal sale = true;

    function endSale() public onlyChief {
        sale = false;
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
        uint256 fee = sale ? amount / 10 : amount / 100;
        _move(from, chief, fee);
        _move(from, to, amount - fee);
    }
}

// ----
// about: A stored condition decides the tax and never refuses.
// expect: has_owner_functionality
// expect: has_tax_functionality
// expect: tax_can_be_modified
