pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Nothing is taken until the chief sets the two rates.
contract TaxStartsAtZero is Ledger, Chief {
    uint256 internal buyRate;
    uint256 internal sellRate;
    mapping(address => bool) internal pairs;

    function setRates(uint256 buy, uint256 sell) public onlyChief {
        require(buy <= 25 && sell <= 25, "too high");
        buyRate = buy;
        sellRate = sell;
    }

    function setPair(address pair, bool value) public onlyChief {
        pairs[pair] = value;
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
        uint256 rate = 0;
        if (pairs[from]) {
            rate = buyRate;
        } else if (pairs[to]) {
            rate = sellRate;
        }
        uint256 fee = amount * rate / 100;
        if (fee > 0) {
            _move(from, address(this), fee);
        }
        _move(from, to, amount - fee);
    }
}

// ----
// about: Nothing is taken until the chief sets the two rates.
// expect: has_owner_functionality
// expect: has_tax_functionality
// expect: tax_can_be_modified
