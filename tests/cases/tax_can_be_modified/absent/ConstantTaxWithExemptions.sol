pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Only who pays can be changed, not how much.
contract ConstantTaxWithExemptions is Ledger, Chief {
    mapping(address => bool) internal excused;

    function excuse(address who) public onlyChief {
        excused[who] = true;
    }

    function condemn(address who) public onlyChief {
        excused[who] = false;
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
        uint256 fee;
        if (!excused[from]) {
            fee = amount * 3 / 100;
            held[address(this)] += fee;
        }
        require(held[from] >= amount, "balance");
        held[from] -= amount;
        held[to] += amount - fee;
    }
}

// ----
// about: Only who pays can be changed, not how much.
// expect: has_owner_functionality
// expect: has_tax_functionality
