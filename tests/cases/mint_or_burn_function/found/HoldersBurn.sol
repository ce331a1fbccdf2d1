pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Holders and those they trust may burn.
contract HoldersBurn is Ledger {
    function burn(uint256 amount) public {
        _burn(msg.sender, amount);
    }

    function burnFrom(address from, uint256 amount) public {
        _spend(from, amount);
        _burn(from, amount);
    }

    function _burn(address from, uint256 amount) internal {
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
// about: Holders and those they trust may burn.
// expect: mint_or_burn_function
// balance_update_function: burn(uint256)
// balance_update_function: burnFrom(address,uint256)
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// allowance_update_function: approve(address,uint256)
// allowance_update_function: burnFrom(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
