pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// One transfer per block and origin, while the delay is on.
contract OnePerOriginAndBlock is Ledger, Chief {
    bool internal delayOn = true;
    mapping(address => uint256) internal lastBlock;

    function setDelay(bool on) public onlyChief {
        delayOn = on;
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
        if (delayOn) {
            require(lastBlock[tx.origin] < block.number, "one per block");
            lastBlock[tx.origin] = block.number;
        }
        _move(from, to, amount);
    }
}

// ----
// about: One transfer per block and origin, while the delay is on.
// expect: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
// unsure: has_pause_functionality
// unsure: pause_status_can_be_modified
