pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// One issue by the chief; no initializer.
contract MintsOnce is Ledger, Chief {
    bool internal isIssued;

    function issue(address to) public onlyChief {
        require(!isIssued, "done");
        isIssued = true;
        issued += 5e23;
        held[to] += 5e23;
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
// about: The chief may issue once after deployment.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: issue(address)
