pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The block of the last call is compared for equality.
contract EqualBlock is Ledger {
    uint256 internal lastBlock;
    uint256 internal calls;

    function poke() public {
        if (block.number == lastBlock) {
            calls += 1;
        } else {
            calls = 0;
            lastBlock = block.number;
        }
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
// about: The block of the last call is compared for equality.
// expect: timebomb
