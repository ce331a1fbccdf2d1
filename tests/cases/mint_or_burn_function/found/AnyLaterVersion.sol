pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Anybody can run it again with a later version.
contract AnyLaterVersion is Ledger {
    uint8 internal version;
    bool internal within;

    modifier initializer(uint8 next) {
        bool isFirst = !within;
        require(isFirst && version < next, "done");
        version = next;
        if (isFirst) {
            within = true;
        }
        _;
        if (isFirst) {
            within = false;
        }
    }

    function initialize(uint8 next, uint256 amount) public initializer(next) {
        issued = amount;
        held[msg.sender] = amount;
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
// about: The supply is set again with each version.
// expect: mint_or_burn_function
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: initialize(uint8,uint256)
