pragma solidity >=0.4.22;

import "../../base/Chief.sol";
import "../../base/Ledger.sol";

/// Some may move more at once than others. While it sells for itself it asks nobody.
contract CapExemptions is Chief, Ledger {
    mapping(address => bool) internal isExempt;
    uint256 internal most;
    bool internal isSelling;

    constructor() public {
        most = 1e22;
    }

    function setExempt(address who, bool yes) public onlyChief {
        isExempt[who] = yes;
    }

    function setMost(uint256 amount) public onlyChief {
        most = amount;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        return _pass(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        _spend(from, amount);
        return _pass(from, to, amount);
    }

    function _pass(address from, address to, uint256 amount) internal returns (bool) {
        if (!isSelling) {
            require(amount <= most || isExempt[from], "too much");
            isSelling = true;
            _move(from, address(this), amount / 1000);
            isSelling = false;
        }
        _move(from, to, amount - amount / 1000);
        return true;
    }
}

// ----
// about: Some may move more at once than others.
// expect: transfer_guarded_by_storage
// expect: transfer_from_guarded_by_storage
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: trading_cap_can_be_modified
// expect: has_owner_functionality
// expect: has_tax_functionality
