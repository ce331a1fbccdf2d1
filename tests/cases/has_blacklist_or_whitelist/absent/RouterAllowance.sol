pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The allowance of the token for a stored router is renewed on the way.
contract RouterAllowance is Ledger, Chief {
    address internal router = msg.sender;

    function setRouter(address who) public onlyChief {
        router = who;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (lent[address(this)][router] < amount) {
            lent[address(this)][router] = ~uint256(0);
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
// about: Transfers look at what the token itself lends its router.
// expect: has_owner_functionality
// allowance_update_function: approve(address,uint256)
// allowance_update_function: transfer(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
