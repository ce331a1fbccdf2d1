pragma solidity >=0.8.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Counters of small types, up and down, in checked arithmetic.
contract SmallCounters is Ledger, Chief {
    uint8 internal ups;
    uint16 internal sum;
    uint32 internal left = 1e9;
    int64 internal balance;

    function setSum(uint16 value) public onlyChief {
        sum = value;
        ups = uint8(value);
        left = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        ups++;
        sum += uint16(amount);
        left--;
        balance -= 5;
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
// about: Transfers count in types of eight and sixteen bits, one of them down.
// expect: has_owner_functionality
// unsure: transfer_guarded_by_storage
// unsure: transfer_from_guarded_by_storage
