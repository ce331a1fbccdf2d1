// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Keeps the creation code of a real pool contract, so that a factory of ours can make such pools.
contract CodeShelf {
    constructor(bytes memory code) {
        bytes memory kept = bytes.concat(hex"00", code); // never runs: it begins with STOP
        assembly ("memory-safe") {
            return(add(kept, 0x20), mload(kept))
        }
    }
}

/// Makes pools of the Uniswap V3 family, which ask their maker for their parameters while they are
/// being created. Source: Uniswap v3-core UniswapV3PoolDeployer.
abstract contract PoolMaker {
    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    Parameters public parameters;
    address private immutable shelf;

    constructor(address shelf_) {
        shelf = shelf_;
    }

    function _make(Parameters memory asked, bytes32 salt) internal returns (address made) {
        parameters = asked;
        address from = shelf;
        assembly ("memory-safe") {
            let size := sub(extcodesize(from), 1)
            let start := mload(0x40)
            extcodecopy(from, start, 1, size)
            made := create2(0, start, size, salt)
        }
        require(made != address(0), "no pool was made");
        delete parameters;
    }
}
