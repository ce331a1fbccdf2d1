pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The chief issues new tokens.
contract OwnerMint is Ledger, Chief {
    function mint(address to, uint256 amount) public onlyChief {
        issued += amount;
        held[to] += amount;
        emit Transfer(address(0), to, amount);
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
// about: The chief issues new tokens.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// balance_update_function: mint(address,uint256)
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
