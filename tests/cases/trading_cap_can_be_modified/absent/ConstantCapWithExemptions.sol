pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Exemptions can be written, the constant cap cannot be changed.
contract ConstantCapWithExemptions is Ledger, Chief {
    mapping(address => bool) internal exempt;

    function setExempt(address who, bool value) public onlyChief {
        exempt[who] = value;
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
        require(exempt[from] || amount <= 1e22, "too large");
        _move(from, to, amount);
    }
}

// ----
// about: Exemptions can be written, the constant cap cannot be changed.
// expect: has_owner_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
