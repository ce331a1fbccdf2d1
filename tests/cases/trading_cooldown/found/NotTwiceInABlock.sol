pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// An address that received in this block may not send in it.
contract NotTwiceInABlock is Ledger {
    mapping(address => uint256) internal receivedIn;

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
        require(receivedIn[from] != block.number, "same block");
        receivedIn[to] = block.number;
        _move(from, to, amount);
    }
}

// ----
// about: An address that received in this block may not send in it.
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
// unsure: has_owner_functionality
