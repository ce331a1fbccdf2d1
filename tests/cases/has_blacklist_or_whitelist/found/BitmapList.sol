pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Frozen addresses are bits of a bitmap.
contract BitmapList is Ledger, Chief {
    mapping(uint256 => uint256) internal bits;

    function freeze(address who) public onlyChief {
        bits[uint256(uint160(who)) >> 8] |= uint256(1) << (uint256(uint160(who)) & 255);
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 word = bits[uint256(uint160(from)) >> 8];
        require((word >> (uint256(uint160(from)) & 255)) & 1 == 0, "frozen");
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
// about: The list is a bitmap: 256 addresses share a word.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
