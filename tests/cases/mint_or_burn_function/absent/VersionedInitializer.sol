pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// An initializer with a version, for which the two ways to pass are computed before the test.
contract VersionedInitializer is Ledger {
    uint8 internal version;
    bool internal within;

    modifier initializer() {
        bool isFirst = !within;
        bool isSetUp = version == 0 && isFirst;
        bool isInConstructor = version == 1 && _isBeingMade();
        require(isSetUp || isInConstructor, "done");
        version = 1;
        if (isFirst) {
            within = true;
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
// about: The whole supply is issued once.
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: initialize(uint256)
