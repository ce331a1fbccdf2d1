pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Burning from others asks for their allowance only.
contract AllowanceIsNoOwner is Ledger {
    function burnFrom(address from, uint256 amount) public {
        require(lent[from][msg.sender] >= amount, "allowance");
        lent[from][msg.sender] -= amount;
        require(held[from] >= amount, "balance");
        held[from] -= amount;
        issued -= amount;
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
// about: Burning from others asks for their allowance only.
// expect: mint_or_burn_function
// balance_update_function: burnFrom(address,uint256)
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// allowance_update_function: approve(address,uint256)
// allowance_update_function: burnFrom(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
