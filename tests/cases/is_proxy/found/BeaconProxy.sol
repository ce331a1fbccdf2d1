pragma solidity >=0.7.0;

interface Beacon {
    function implementation() external view returns (address);
}

/// A beacon is asked for the implementation.
contract BeaconProxy {
    address internal immutable beacon;

    constructor(address value) {
        beacon = value;
    }

    fallback() external payable {
        address target = Beacon(beacon).implementation();
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}

// ----
// about: A beacon is asked for the implementation.
// expect: is_proxy
// only: is_proxy
