pragma solidity >=0.8.0;

import "../../base/Ledger.sol";

/// A counter that transfers raise; its overflow check is the compiler's.
contract CountedTransfers is Ledger {
    uint256 public count;

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
        if (amount > 0) count++;
        _move(from, to, amount);
    }
}

// ----
// about: A counter that transfers raise; its overflow check is the compiler's.
