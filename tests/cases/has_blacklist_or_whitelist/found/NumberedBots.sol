pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The array of refused addresses is walked from its end.
contract NumberedBots is Ledger, Chief {
    address[] internal bots;

    function add(address[] memory more) public onlyChief {
        for (uint256 i = 0; i < more.length; i++) {
            bots.push(more[i]);
        }
    }

    function _pass(address from, address to, uint256 amount) internal {
        bool isBot = false;
        for (uint256 i = bots.length; i > 0; i--) {
            if (bots[i - 1] == from || bots[i - 1] == to) {
                isBot = true;
                break;
            }
        }
        require(!isBot, "bot");
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
// about: Bots are numbered from one in an array; its places are searched from its end.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
