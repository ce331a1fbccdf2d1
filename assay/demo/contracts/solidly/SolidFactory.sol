// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {SolidPair} from "./SolidPair.sol";

/// Factory with the interface of the Solidly and Velodrome v1 family.
contract SolidFactory {
    mapping(address => mapping(address => mapping(bool => address))) public getPair;
    mapping(address => bool) public isPair;
    address[] public allPairs;

    uint256 public constant stableFee = 2;
    uint256 public constant volatileFee = 20;

    event PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint256);

    function allPairsLength() external view returns (uint256) {
        return allPairs.length;
    }

    function isPaused() external pure returns (bool) {
        return false;
    }

    /// Basis points.
    function getFee(bool stable) external pure returns (uint256) {
        return stable ? stableFee : volatileFee;
    }

    function createPair(address tokenA, address tokenB, bool stable) external returns (address pair) {
        require(tokenA != tokenB, "IA");
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        require(token0 != address(0), "ZA");
        require(getPair[token0][token1][stable] == address(0), "PE");
        bytes32 salt = keccak256(abi.encodePacked(token0, token1, stable));
        pair = address(new SolidPair{salt: salt}(token0, token1, stable));
        getPair[token0][token1][stable] = pair;
        getPair[token1][token0][stable] = pair;
        isPair[pair] = true;
        allPairs.push(pair);
        emit PairCreated(token0, token1, stable, pair, allPairs.length);
    }
}
