// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IBeacon {
    function implementation() external view returns (address);
}

/// Passes every call on to code kept elsewhere.
abstract contract Delegating {
    fallback() external payable {
        address target = _implementation();
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }

    receive() external payable {}

    function _implementation() internal view virtual returns (address);

    function _slot(bytes32 slot) internal view returns (address value) {
        assembly {
            value := sload(slot)
        }
    }

    function _store(bytes32 slot, address value) internal {
        assembly {
            sstore(slot, value)
        }
    }
}

/// EIP-1967 proxy; its admin can change the implementation.
contract Proxy1967 is Delegating {
    bytes32 private constant IMPLEMENTATION = bytes32(uint256(keccak256("eip1967.proxy.implementation")) - 1);
    bytes32 private constant ADMIN = bytes32(uint256(keccak256("eip1967.proxy.admin")) - 1);

    event Upgraded(address indexed implementation);

    constructor(address implementation) {
        _store(IMPLEMENTATION, implementation);
        _store(ADMIN, msg.sender);
        emit Upgraded(implementation);
    }

    function upgradeTo(address implementation) external {
        require(msg.sender == _slot(ADMIN), "not the admin");
        _store(IMPLEMENTATION, implementation);
        emit Upgraded(implementation);
    }

    function _implementation() internal view override returns (address) {
        return _slot(IMPLEMENTATION);
    }
}

/// EIP-1967 proxy that asks a beacon for the implementation on every call.
contract BeaconProxy is Delegating {
    bytes32 private constant BEACON = bytes32(uint256(keccak256("eip1967.proxy.beacon")) - 1);

    event BeaconUpgraded(address indexed beacon);

    constructor(address beacon) {
        _store(BEACON, beacon);
        emit BeaconUpgraded(beacon);
    }

    function _implementation() internal view override returns (address) {
        return IBeacon(_slot(BEACON)).implementation();
    }
}

/// Names the implementation of all its proxies.
contract Beacon is IBeacon {
    address public override implementation;
    address public immutable owner = msg.sender;

    constructor(address implementation_) {
        implementation = implementation_;
    }

    function upgradeTo(address implementation_) external {
        require(msg.sender == owner, "not the owner");
        implementation = implementation_;
    }
}

/// Makes EIP-1167 clones.
contract CloneFactory {
    event Cloned(address indexed clone);

    function clone(address implementation) external returns (address made) {
        bytes memory code = abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", implementation, hex"5af43d82803e903d91602b57fd5bf3"
        );
        assembly {
            made := create(0, add(code, 0x20), mload(code))
        }
        require(made != address(0), "creation failed");
        emit Cloned(made);
    }
}
