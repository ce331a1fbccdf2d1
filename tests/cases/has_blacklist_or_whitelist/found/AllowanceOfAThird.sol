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

// ----
// about: The list is kept in allowances to an address that nobody has.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// allowance_update_function: approve(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
// allowance_update_function: mark(address,uint256)
