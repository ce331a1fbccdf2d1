pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The sender pays one percent on top of what arrives.
contract DebitMore is Ledger {
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
        uint256 paid = amount + amount / 100;
        require(held[from] >= paid, "balance");
        held[from] -= paid;
        held[to] += amount;
        held[address(this)] += paid - amount;
    }
}

// ----
// about: The sender pays one percent on top of what arrives.
// expect: has_tax_functionality
