pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// An array of holders is kept and refuses nobody.
contract ArrayOfHolders is Ledger, Chief {
    address[] internal holders;
    mapping(address => uint256) internal number;

    function drop(address who) public onlyChief {
        delete number[who];
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (number[to] == 0) {
            holders.push(to);
            number[to] = holders.length;
        }
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

// ----
// about: Recipients are added to a stored array of holders, which refuses nobody.
// expect: has_owner_functionality
