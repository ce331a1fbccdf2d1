pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// A sender waits thirty seconds after the last transfer of its own.
contract WaitPerSender is Ledger {
    mapping(address => uint256) internal lastMove;

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
        require(block.timestamp >= lastMove[from] + 30, "wait");
        lastMove[from] = block.timestamp;
        _move(from, to, amount);
    }
}

// ----
// about: A sender waits thirty seconds after the last transfer of its own.
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
// unsure: has_owner_functionality
