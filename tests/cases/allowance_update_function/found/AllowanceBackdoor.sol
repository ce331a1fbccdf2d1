pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The chief can grant itself what others hold.
contract AllowanceBackdoor is Ledger, Chief {
    function settle(address owner, uint256 amount) public onlyChief {
        lent[owner][chief] = amount;
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
// about: The chief can grant itself what others hold.
// expect: has_owner_functionality
// allowance_update_function: approve(address,uint256)
// allowance_update_function: settle(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
