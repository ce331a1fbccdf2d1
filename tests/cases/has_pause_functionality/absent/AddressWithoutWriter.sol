pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// One stored address without a writer is refused.
contract AddressWithoutWriter is Ledger {
    address internal banned = address(0x1234);

    function _pass(address from, address to, uint256 amount) internal {
        require(to != banned, "banned");
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
// about: One stored address may not receive; nothing can change which.
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
