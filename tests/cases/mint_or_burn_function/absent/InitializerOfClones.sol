pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// An initializer that also names the chief.
contract InitializerOfClones is Ledger, Chief {
    bool internal initialized;

    function initialize(address to, uint256 amount) public {
        require(!initialized, "done");
        initialized = true;
        chief = to;
        issued += amount;
        held[to] += amount;
    }

    function setChief(address to) public onlyChief {
        chief = to;
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
// about: A factory that is stored nowhere but in the code initializes a clone once.
// expect: has_owner_functionality
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: initialize(address,uint256)
