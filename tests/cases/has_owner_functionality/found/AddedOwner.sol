pragma solidity >=0.6.0;

import "../../base/Ledger.sol";

/// A sum of the caller and a constant must be zero.
contract AddedOwner is Ledger {
    function issue(uint256 amount) public {
        uint256 rest;
        assembly {
            rest := add(caller(), sub(0, 0x5aFE5aFE5aFE5aFE5aFe5AfE5AFe5aFE5afe1234))
        }
        require(rest == 0, "not the chief");
        issued += amount;
        held[msg.sender] += amount;
    }

    function _pass(address from, address to, uint256 amount) internal {
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
// about: The caller is compared with a constant by a sum.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: issue(uint256)
