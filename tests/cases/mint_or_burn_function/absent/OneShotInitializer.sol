pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// An initializer issues the supply and can never run again.
contract OneShotInitializer is Ledger {
    bool internal initialized;

    function initialize(address to, uint256 amount) public {
        require(!initialized, "done");
        initialized = true;
        issued = amount;
        held[to] = amount;
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
// about: An initializer issues the supply and can never run again.
// balance_update_function: initialize(address,uint256)
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
