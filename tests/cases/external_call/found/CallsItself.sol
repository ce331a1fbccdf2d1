pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The contract asks itself from outside and uses the answer.
contract CallsItself is Ledger {
    function rich(address who) public view returns (bool) {
        return this.balanceOf(who) > 1e18;
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
// about: The contract asks itself from outside and uses the answer.
// expect: external_call
