pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Within a day of a sale, an address sells no more than a part of its balance in all.
contract WindowOfOwnShare is Ledger, Chief {
    struct Sales {
        uint256 since;
        uint256 sum;
    }

    mapping(address => Sales) internal sales;
    mapping(address => bool) internal isPair;

    function setPair(address who) public onlyChief {
        isPair[who] = true;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (isPair[to]) {
            uint256 most = held[from] / 50;
            if (block.timestamp > sales[from].since + 86400) {
                sales[from].since = block.timestamp;
                sales[from].sum = amount;
            } else if (block.timestamp > sales[from].since) {
                require(sales[from].sum + amount <= most, "too much for today");
                sales[from].sum += amount;
            }
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
// about: A first sale starts a day in which the seller may sell only a part of its own balance.
// expect: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_trading_cap
// unsure: has_trading_cap_functionality
// unsure: trading_cap_can_be_modified
