pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

interface Market {
    function swap(uint256 amount, uint256 deadline) external;
}

/// The time is handed on as a deadline and stored, never compared.
contract PassesTheTime is Ledger, Chief {
    Market internal market;
    uint256 public lastSwap;

    function setMarket(Market value) public onlyChief {
        market = value;
    }

    function swap(uint256 amount) public {
        lastSwap = block.timestamp;
        market.swap(amount, block.timestamp);
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
// about: The time is handed on as a deadline and stored, never compared.
// expect: external_call
// expect: has_owner_functionality
