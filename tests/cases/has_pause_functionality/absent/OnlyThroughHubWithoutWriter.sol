pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// One end of each transfer is a stored address without a writer.
contract OnlyThroughHubWithoutWriter is Ledger {
    address internal hub = msg.sender;

    function _pass(address from, address to, uint256 amount) internal {
        require(from == hub || to == hub, "hub");
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
// about: All transfers must involve a stored address that nothing can change.
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
// unsure: has_owner_functionality
