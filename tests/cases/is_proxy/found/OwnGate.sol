pragma solidity >=0.8.0;

/// A slot of its own making, and an upgrade that only one stored caller reaches.
contract OwnGate {
    bytes32 internal constant PLACE = keccak256("a place of its own");

    constructor(address target) {
        bytes32 place = PLACE;
        assembly {
            sstore(place, target)
            sstore(add(place, 1), caller())
        }
    }

    fallback() external payable {
        bytes32 place = PLACE;
        assembly {
            if and(eq(caller(), sload(add(place, 1))), eq(shr(224, calldataload(0)), 0x12345678)) {
                sstore(place, calldataload(4))
                stop()
            }
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), sload(place), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

// ----
// about: A proxy with a slot and an upgrade of its own: the caller decides which of both runs.
// expect: has_owner_functionality
// expect: is_proxy
// only: has_owner_functionality
// only: is_proxy
