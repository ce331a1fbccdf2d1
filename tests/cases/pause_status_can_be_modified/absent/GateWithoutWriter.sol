pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// A gate that the constructor alone decided.
contract GateWithoutWriter is Ledger {
    bool internal open;

    constructor(bool value) public {
        open = value;
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
        require(open, "closed");
        _move(from, to, amount);
    }
}

// ----
// about: A gate that the constructor alone decided.
// expect: has_pause_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
