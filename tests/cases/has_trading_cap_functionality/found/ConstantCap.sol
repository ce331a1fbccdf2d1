pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// No single transfer may be larger than a constant.
contract ConstantCap is Ledger {
    uint256 internal constant MOST = 1e22;

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
        require(amount <= MOST, "too large");
        _move(from, to, amount);
    }
}

// ----
// about: No single transfer may be larger than a constant.
// expect: has_trading_cap
// expect: has_trading_cap_functionality
