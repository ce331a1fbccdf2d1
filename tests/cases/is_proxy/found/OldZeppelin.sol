pragma solidity >=0.4.22 <0.6.0;

/// The first upgradeable proxies had an unnamed fallback and a hashed slot.
contract OldZeppelin {
    bytes32 private constant PLACE = keccak256("org.zeppelinos.proxy.implementation");

    function () external payable {
        bytes32 place = PLACE;
        address target;
        assembly {
            target := sload(place)
        }
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
// about: The first upgradeable proxies had an unnamed fallback and a hashed slot.
// expect: is_proxy
// only: is_proxy
