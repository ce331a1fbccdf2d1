pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// `burn` lowers an allowance, then sends to nobody, which always fails.
contract BurnThatFails is Ledger {
    function burn(uint256 amount) public {
        transferFrom(msg.sender, address(0), amount);
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        _spend(from, amount);
        _move(from, to, amount);
        return true;
    }
}

// ----
// about: `burn` lowers an allowance, then sends to nobody, which always fails.
