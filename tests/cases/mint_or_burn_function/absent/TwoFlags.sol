pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// An initializer with a second flag in the same slot, for calls within it.
contract TwoFlags is Ledger {
    bool internal done;
    bool internal within;

    modifier initializer() {
        require(within || _isBeingMade() || !done, "done");
        bool isFirst = !within;
        if (isFirst) {
            within = true;
            done = true;
        }
        _;
        if (isFirst) {
            within = false;
        }
    }

    function _isBeingMade() internal view returns (bool) {
        uint256 size;
        assembly {
            size := extcodesize(address())
        }
        return size == 0;
    }

    function initialize(uint256 amount) public initializer {
        _issue(amount);
    }

    function _issue(uint256 amount) internal initializer {
        issued += amount;
        held[msg.sender] += amount;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        _spend(from, amount);
        _move(from, to, amount);
        return true;
    }
}

// ----
// about: An initializer with a second flag in the same slot, for calls within it.
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: initialize(uint256)
