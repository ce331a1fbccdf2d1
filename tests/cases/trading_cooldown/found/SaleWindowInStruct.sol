pragma solidity >=0.8.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The window of a seller, start and sum packed into a slot.
contract SaleWindowInStruct is Ledger, Chief {
    struct Window {
        uint64 start;
        uint192 sold;
    }

    mapping(address => Window) internal windows;
    address internal pair = msg.sender;

    function setPair(address who) public onlyChief {
        pair = who;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (to == pair) {
            Window storage mine = windows[from];
            if (block.timestamp >= mine.start + 3600) {
                mine.start = uint64(block.timestamp);
                mine.sold = uint192(amount);
            } else {
                mine.sold += uint192(amount);
            }
            require(mine.sold <= 1e22, "sold");
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
// about: The same window, its start and sum in one slot.
// expect: has_owner_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
