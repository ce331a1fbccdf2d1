pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// transfer calls transferFrom as the sender, which then asks for no allowance.
contract DaiStyle is Ledger {
    function transfer(address to, uint256 amount) public returns (bool) {
        return transferFrom(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        if (from != msg.sender) {
            _spend(from, amount);
        }
        _move(from, to, amount);
        return true;
    }
}

// ----
// about: transfer calls transferFrom as the sender, which then asks for no allowance.
