pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Everybody but one constant account waits after a transfer of its own.
contract WaitUnlessRouter is Ledger {
    mapping(address => uint256) internal lastSent;
    address internal constant ROUTER = 0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D;

    function _pass(address from, address to, uint256 amount) internal {
        require(block.number > lastSent[from] + 5 || from == ROUTER, "wait");
        lastSent[from] = block.number;
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
// about: The wait after a transfer of one's own holds for all but one constant account.
// unsure: has_owner_functionality
// expect: timebomb
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
