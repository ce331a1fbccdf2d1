pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Transfers note the time per address, and nothing ever compares it.
contract StampOnly is Ledger {
    mapping(address => uint256) public lastMove;

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
        lastMove[from] = block.timestamp;
        _move(from, to, amount);
    }
}

// ----
// about: Transfers note the time per address, and nothing ever compares it.
