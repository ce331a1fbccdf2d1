pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// After three transfers of its own in a block, an address waits for the next.
contract FewInABlock is Ledger {
    mapping(address => uint256) internal lastSent;
    mapping(address => uint256) internal count;

    function _pass(address from, address to, uint256 amount) internal {
        if (lastSent[from] == block.number) {
            require(count[from] < 3, "too many");
            count[from] += 1;
        } else {
            lastSent[from] = block.number;
            count[from] = 1;
        }
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
// about: The fourth transfer of an address in one block is refused.
// unsure: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
