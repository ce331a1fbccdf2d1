pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Selling locks the seller; the chief may lock and unlock, too.
contract LockAfterSelling is Ledger, Chief {
    mapping(address => uint256) internal lock;
    mapping(address => bool) internal isPair;

    function setPair(address pair, bool value) public onlyChief {
        isPair[pair] = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (isPair[to]) {
            require(lock[from] < block.timestamp, "locked");
            lock[from] = block.timestamp + 1 hours;
        }
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
// about: The seller is locked by each sale, and the chief may unlock.
// expect: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
