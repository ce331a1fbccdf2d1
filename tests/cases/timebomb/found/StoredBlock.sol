pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The first blocks after a stored one are told apart.
contract StoredBlock is Ledger, Chief {
    uint256 internal startBlock;
    uint256 public early;

    function start() public onlyChief {
        startBlock = block.number;
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
        if (block.number <= startBlock + 3) {
            early += 1;
        }
        _move(from, to, amount);
    }
}

// ----
// about: The first blocks after a stored one are told apart.
// expect: has_owner_functionality
// expect: timebomb
