pragma solidity >=0.8.0;

import "../../base/Ledger.sol";

interface Rate {
    function rate() external view returns (uint256);
}

/// The answer of a contract in the code is used.
contract ImmutableRouter is Ledger {
    Rate internal immutable rate;
    uint256 public last;

    constructor(Rate asked) {
        rate = asked;
    }

    function refresh() public {
        last = rate.rate();
    }

    function _pass(address from, address to, uint256 amount) internal {
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
// about: An immutable contract is asked for a number that is used.
// expect: external_call
