pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A function without a telling name stores the supply by hand.
contract MintInAssembly is Ledger, Chief {
    function tidy(uint256 amount) public {
        if (msg.sender != chief) return;
        assembly {
            sstore(2, add(sload(2), amount))
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
// about: A function without a telling name stores the supply by hand.
// expect: has_owner_functionality
// expect: mint_or_burn_function
