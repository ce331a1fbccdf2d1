pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The origin of the transaction is compared, in a packed slot.
contract OriginOwner is Ledger {
    uint64 internal version = 1;
    address internal boss;
    bool internal sealed_;

    constructor() public {
        boss = msg.sender;
    }

    function seal() public {
        require(tx.origin == boss, "no");
        sealed_ = true;
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

    function _pass(address from, address to, uint256 amount) internal {
        _move(from, to, amount);
    }
}

// ----
// about: The origin of the transaction is compared, in a packed slot.
// expect: has_owner_functionality
