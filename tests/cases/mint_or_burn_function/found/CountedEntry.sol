pragma solidity >=0.8.0;

import "../../base/Chief.sol";
import "../../base/Ledger.sol";

/// Minting is guarded against re-entry by a counter: it can run again.
contract CountedEntry is Ledger, Chief {
    uint256 internal entered;

    modifier once() {
        entered += 1;
        uint256 mine = entered;
        _;
        require(mine == entered, "re-entered");
    }

    function issue(address to, uint256 amount) public onlyChief once {
        issued += amount;
        held[to] += amount;
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
// about: Minting is guarded against re-entry by a counter: it can run again.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: issue(address,uint256)
