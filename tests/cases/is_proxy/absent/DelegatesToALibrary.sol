pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

library Marks {
    function put(uint256[] storage marks, uint256 value) public {
        marks.push(value);
    }
}

/// Arithmetic is done by a library's code, from inside a function.
contract DelegatesToALibrary is Ledger {
    uint256[] internal marks;

    function mark(uint256 value) public {
        Marks.put(marks, value);
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
        _move(from, to, amount);
    }
}

// ----
// about: Arithmetic is done by a library's code, from inside a function.
// unsure: external_call
