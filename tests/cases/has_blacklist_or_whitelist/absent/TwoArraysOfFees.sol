pragma solidity >=0.5.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// One search over two arrays, which decides on the fee and on the count, and refuses nobody.
contract TwoArraysOfFees is Ledger, Chief {
    address[] internal friends;
    address[] internal foes;
    uint256 internal seen;

    function add(address who, uint8 kind) public onlyChief {
        if (kind == 1) {
            friends.push(who);
        } else {
            foes.push(who);
        }
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
        uint256 fee = 0;
        if (!isFriend && from != chief) {
            fee = amount / 100;
            _move(from, address(this), fee);
        }
        if (isFoe) {
            seen += 1;
        }
        _move(from, to, amount - fee);
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
// about: The same search decides only who pays the fixed fee, and what is counted.
// expect: has_owner_functionality
// expect: has_tax_functionality
