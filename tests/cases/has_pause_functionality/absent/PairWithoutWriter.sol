pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Sales to a stored pair ask for a receiver that is set.
contract PairWithoutWriter is Ledger {
    bool internal spare;
    address internal pair = msg.sender;
    address internal purse = msg.sender;

    function isSpare() public view returns (bool) {
        return spare;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (to == pair) {
            require(from != purse, "purse");
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
// about: Before the pair, a stored address that nothing writes, tokens are not sold.
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_owner_functionality
// unsure: has_blacklist_or_whitelist
