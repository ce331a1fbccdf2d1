pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

interface Oracle {
    function price() external view returns (uint256);
}

/// A contract named in the code is asked, and its answer is used.
contract LiteralAnswerUsed is Ledger {
    function worth() public view returns (uint256) {
        return Oracle(0xA11Ce000000000000000000000000000000A11Ce).price() * 2;
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
// about: A contract named in the code is asked, and its answer is used.
// expect: external_call
