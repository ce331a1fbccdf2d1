pragma solidity >=0.6.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The slot of a mark is the address itself, with a constant added.
contract SlotIsTheAddress is Ledger, Chief {
    function freeze(address who, uint256 value) public onlyChief {
        assembly {
            sstore(xor(who, shl(160, 0x77)), value)
        }
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 mark;
        assembly {
            mark := sload(xor(from, shl(160, 0x77)))
        }
        require(mark == 0, "frozen");
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
// about: A frozen address is marked in the slot of its own number.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
