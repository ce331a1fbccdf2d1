pragma solidity >=0.8.0;

/// The implementation is an immutable.
contract ImmutableImplementation {
    address internal immutable implementation;

    constructor(address target) {
        implementation = target;
    }

    fallback() external payable {
        address target = implementation;
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
// about: The implementation is in the code, where deployment puts it.
// expect: is_proxy
// only: is_proxy
