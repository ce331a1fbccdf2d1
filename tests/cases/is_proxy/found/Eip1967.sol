pragma solidity >=0.6.0;

/// The implementation is kept at the slot of EIP-1967, with an admin.
contract Eip1967 {
    bytes32 internal constant PLACE = bytes32(uint256(keccak256("eip1967.proxy.implementation")) - 1);
    bytes32 internal constant ADMIN = bytes32(uint256(keccak256("eip1967.proxy.admin")) - 1);

    function upgradeTo(address next) public {
        bytes32 place = PLACE;
        bytes32 admin = ADMIN;
        address who;
        assembly {
            who := sload(admin)
        }
        require(msg.sender == who, "no");
        assembly {
            sstore(place, next)
        }
    }

    fallback() external payable {
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
// about: The implementation is kept at the slot of EIP-1967, with an admin.
// expect: is_proxy
// only: is_proxy
