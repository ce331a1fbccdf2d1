pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// What an address moves in a day of its own is limited.
contract DailySum is Ledger {
    uint256 internal constant DAILY = 1e21;
    mapping(address => uint256) internal dayStart;
    mapping(address => uint256) internal moved;

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
        if (block.timestamp > dayStart[from] + 1 days) {
            dayStart[from] = block.timestamp;
            moved[from] = 0;
        }
        moved[from] += amount;
        require(moved[from] <= DAILY, "too much for a day");
        _move(from, to, amount);
    }
}

// ----
// about: What an address moves in a day of its own is limited.
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
// unsure: has_owner_functionality
