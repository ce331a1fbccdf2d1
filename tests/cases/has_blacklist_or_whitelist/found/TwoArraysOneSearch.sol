pragma solidity >=0.5.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// One search over two arrays; an address of the first passes always, one of the second never.
contract TwoArraysOneSearch is Ledger, Chief {
    address[] internal friends;
    address[] internal foes;
    bool internal isOpen = true;
    uint256 internal most = 1e21;

    function add(address who, uint8 kind) public onlyChief {
        if (kind == 1) {
            friends.push(who);
        } else {
            foes.push(who);
        }
    }

    function set(bool open, uint256 amount) public onlyChief {
        isOpen = open;
        most = amount;
    }

    function has(address who, uint8 kind) public view returns (bool found) {
        if (kind == 1) {
            for (uint8 i = 0; i < friends.length; i++) {
                if (friends[i] == who) {
                    found = true;
                    break;
                }
            }
        } else {
            for (uint8 i = 0; i < foes.length; i++) {
                if (foes[i] == who) {
                    found = true;
                    break;
                }
            }
        }
    }

    function _pass(address from, address to, uint256 amount) internal {
        bool isFriend = has(from, 1);
        bool isFoe = has(from, 2);
        if (from == chief || isFriend) {
            _move(from, to, amount);
        } else if ((amount <= most || isOpen) && !isFoe) {
            _move(from, to, amount);
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
}

// ----
// about: A loop sets a flag for what it finds in one of two arrays; with the flag set, nothing moves.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: trading_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_pause_functionality
// unsure: pause_status_can_be_modified
