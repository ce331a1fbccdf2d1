pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

contract Mortal {
    function end() public {
        assembly {
            selfdestruct(caller())
        }
    }
}

/// The creation code of another contract can end itself; this one cannot.
contract MakesAMortal is Ledger {
    function breed() public returns (address) {
        return address(new Mortal());
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
// about: The creation code of another contract can end itself; this one cannot.
