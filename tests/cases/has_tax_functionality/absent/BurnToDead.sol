pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Burning means sending to the dead address, on request.
contract BurnToDead is Ledger {
    function burn(uint256 amount) public {
        _move(msg.sender, address(uint160(0xdEaD)), amount);
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
// about: Burning means sending to the dead address, on request.
// balance_update_function: burn(uint256)
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
