pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The time since a stored one is compared with a constant.
contract Elapsed is Ledger, Chief {
    uint256 internal since = 5;

    function release() public onlyChief {
        require(block.timestamp - since > 30 days, "too early");
        since = block.timestamp;
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
// about: The time since a stored one is compared with a constant.
// expect: has_owner_functionality
// expect: timebomb
