pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The opcode's byte stands in a constant and a text only.
contract DestroyerInData is Ledger {
    bytes32 public constant MARK = 0xff00ff5bff5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff;

    function words() public pure returns (bytes memory) {
        return hex"5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff5b33ff";
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
// about: The opcode's byte stands in a constant and a text only.
