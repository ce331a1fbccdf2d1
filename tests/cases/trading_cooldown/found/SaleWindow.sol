pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The window of a seller starts anew with a sale of its own.
contract SaleWindow is Ledger, Chief {
    mapping(address => bool) internal isPair;
    mapping(address => uint256) internal start;
    mapping(address => uint256) internal sold;
    uint256 internal most = 1e22;

    function setPair(address pair, bool value) public onlyChief {
        isPair[pair] = value;
    }

    function setMost(uint256 value) public onlyChief {
        most = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (isPair[to]) {
            if (block.timestamp > start[from] + 1 days) {
                start[from] = block.timestamp;
                sold[from] = 0;
            }
            sold[from] += amount;
            require(sold[from] <= most, "sold");
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
// about: What an address sells in a window is limited; its first sale after the window starts a new one.
// expect: has_owner_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: timebomb
// expect: trading_cap_can_be_modified
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
