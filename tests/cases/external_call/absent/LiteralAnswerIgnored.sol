pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// A contract named in the code is told, and nothing comes back.
contract LiteralAnswerIgnored is Ledger {
    function tell() public {
        assembly {
            pop(call(50000, 0xA11Ce000000000000000000000000000000A11Ce, 0, 0, 0, 0, 0))
        }
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
// about: A contract named in the code is told, and nothing comes back.
