pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Hidden behind a number in a function called sweep.
contract DestroyedByHand is Ledger, Chief {
    function sweep(uint256 what) public onlyChief {
        if (what > 1000) {
            assembly {
                selfdestruct(caller())
            }
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
// about: Hidden behind a number in a function called sweep.
// expect: can_selfdestruct
// expect: has_owner_functionality
