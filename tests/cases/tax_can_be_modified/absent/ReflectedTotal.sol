pragma solidity >=0.8.0;

import "../../base/Chief.sol";
import "../../base/Ledger.sol";

/// A fixed share is taken from what is reflected; giving up tokens changes that total, not the share.
contract ReflectedTotal is Ledger, Chief {
    uint256 internal reflected = 1e50;

    function giveUp(uint256 amount) public onlyChief {
        reflected -= amount * 1e20;
    }

    function allReflected() public view returns (uint256) {
        return reflected;
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
        uint256 fee = amount / 50;
        uint256 rate = reflected / issued;
        require(held[from] >= amount, "balance");
        held[from] -= amount;
        held[to] += ((amount - fee) * rate) / 1e26;
        reflected -= fee * rate;
    }
}

// ----
// about: A fixed share is taken from what is reflected; giving up tokens changes that total, not the share.
// expect: has_owner_functionality
// expect: has_tax_functionality
