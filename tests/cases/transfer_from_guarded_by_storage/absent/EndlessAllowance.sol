pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// An allowance of all ones is not counted down.
contract EndlessAllowance is Ledger {
    function transfer(address to, uint256 amount) public returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        if (lent[from][msg.sender] != ~uint256(0)) {
            _spend(from, amount);
        }
        _move(from, to, amount);
        return true;
    }
}

// ----
// about: An allowance of all ones is not counted down.
