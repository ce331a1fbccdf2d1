// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {PoolMaker} from "./CodeShelf.sol";

/// What the real PancakeV3Factory calls to make its real pools. The package ships both without it.
/// Source: pancake-v3-contracts, PancakeV3PoolDeployer.
contract PancakeDeployer is PoolMaker {
    address public factoryAddress;

    constructor(address shelf) PoolMaker(shelf) {}

    function setFactoryAddress(address factory) external {
        require(factoryAddress == address(0), "already set");
        factoryAddress = factory;
    }

    function deploy(address factory, address token0, address token1, uint24 fee, int24 spacing)
        external
        returns (address)
    {
        require(msg.sender == factoryAddress, "not the factory");
        return _make(
            Parameters(factory, token0, token1, fee, spacing), keccak256(abi.encode(token0, token1, fee))
        );
    }
}
