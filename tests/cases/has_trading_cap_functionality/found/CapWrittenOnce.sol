pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The cap is stored by the constructor and nothing else writes it.
contract CapWrittenOnce is Ledger {
    uint256 internal most;

    constructor(uint256 value) public {
        most = value;
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
        require(amount <= most, "too large");
        _move(from, to, amount);
    }
}

// ----
// about: The cap is stored by the constructor and nothing else writes it.
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
