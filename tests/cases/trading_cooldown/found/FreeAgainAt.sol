pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The moment an address is free again is stored, the wait is a setting.
contract FreeAgainAt is Ledger, Chief {
    uint256 internal wait = 60;
    mapping(address => uint256) internal freeAt;

    function setWait(uint256 value) public onlyChief {
        wait = value;
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
        require(freeAt[from] <= block.timestamp, "wait");
        freeAt[to] = block.timestamp + wait;
        _move(from, to, amount);
    }
}

// ----
// about: The moment an address is free again is stored, the wait is a setting.
// expect: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
