pragma solidity >=0.6.0;

import "../../base/Ledger.sol";

/// Whoever sends the right number ends the contract.
contract AnybodyDestroys is Ledger {
    function close(uint256 number) public {
        require(number == 42, "no");
        selfdestruct(payable(msg.sender));
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
// about: Whoever sends the right number ends the contract.
// expect: can_selfdestruct
