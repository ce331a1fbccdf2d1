pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Listed callers are refused, whoever's tokens they move.
contract ListedCallers is Ledger, Chief {
    mapping(address => uint256) internal bots;

    function mark(address[] memory who, uint256 value) public onlyChief {
        for (uint256 i = 0; i < who.length; i++) {
            bots[who[i]] = value;
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
        require(bots[msg.sender] == 0, "bot");
        _move(from, to, amount);
    }
}

// ----
// about: Listed callers are refused, whoever's tokens they move.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
