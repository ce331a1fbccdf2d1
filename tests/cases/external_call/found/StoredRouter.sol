pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

interface Router {
    function quote(uint256 amount) external view returns (uint256);
}

/// A stored contract is asked for a price.
contract StoredRouter is Ledger, Chief {
    Router internal router;

    function setRouter(Router value) public onlyChief {
        router = value;
    }

    function worth(uint256 amount) public view returns (uint256) {
        return router.quote(amount);
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
// about: A stored contract is asked for a price.
// expect: external_call
// expect: has_owner_functionality
