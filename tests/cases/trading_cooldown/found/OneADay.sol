pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// One transfer per sender and day.
contract OneADay is Ledger {
    mapping(address => uint256) internal day;

    function _pass(address from, address to, uint256 amount) internal {
        uint256 today = block.timestamp / 1 days;
        require(day[from] != today, "today");
        day[from] = today;
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
// about: The number of the day of the last transfer is kept.
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
