pragma solidity >=0.6.0;

/// Each selector has its own implementation.
contract Diamond {
    mapping(bytes4 => address) internal facets;

    fallback() external payable {
        address target = facets[msg.sig];
        require(target != address(0), "unknown");
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
// about: Each selector has its own implementation.
// expect: is_proxy
// only: is_proxy
