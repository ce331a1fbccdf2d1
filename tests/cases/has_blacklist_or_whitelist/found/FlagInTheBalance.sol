pragma solidity >=0.8.0;

import "../../base/Lender.sol";
import "../../base/Chief.sol";

/// The list is the highest bit of the balance.
contract FlagInTheBalance is Lender, Chief {
    mapping(address => uint256) internal held;
    uint256 public totalSupply = 1e24;
    uint256 internal constant FLAG = 1 << 255;

    function balanceOf(address who) public view returns (uint256) {
        return held[who] & (FLAG - 1);
    }

    function freeze(address who) public onlyChief {
        held[who] = held[who] | FLAG;
    }

    function thaw(address who) public onlyChief {
        held[who] = held[who] & (FLAG - 1);
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(held[from] & FLAG == 0, "frozen");
        uint256 mine = held[from] & (FLAG - 1);
        require(mine >= amount, "balance");
        held[from] = mine - amount;
        uint256 theirs = held[to];
        held[to] = (theirs & FLAG) | ((theirs & (FLAG - 1)) + amount);
        emit Transfer(from, to, amount);
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
// about: The highest bit of a balance freezes it; the rest is the amount.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
