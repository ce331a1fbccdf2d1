pragma solidity >=0.6.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The list has slots of its own making.
contract SeededSlots is Ledger, Chief {
    function _place(address who) internal pure returns (bytes32 place) {
        assembly {
            mstore(12, 0x5eed5eed)
            mstore(0, who)
            place := keccak256(12, 32)
        }
    }

    function freeze(address who, uint256 value) public onlyChief {
        bytes32 place = _place(who);
        assembly {
            sstore(place, value)
        }
    }

    function _pass(address from, address to, uint256 amount) internal {
        bytes32 place = _place(from);
        uint256 mark;
        assembly {
            mark := sload(place)
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
// about: Marks lie behind a hash of an address and a seed, packed.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
