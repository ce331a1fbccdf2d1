pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The key of the list is a hash.
contract KeyedByHash is Ledger, Chief {
    mapping(bytes32 => bool) internal marked;

    function mark(address who, bool value) public onlyChief {
        marked[keccak256(abi.encodePacked(who))] = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(!marked[keccak256(abi.encodePacked(from))], "marked");
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
// about: The list is keyed by a hash of the address.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
