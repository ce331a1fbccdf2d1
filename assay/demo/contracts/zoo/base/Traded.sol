// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Owned} from "./Owned.sol";

/// An owned token that knows its pool, and lets the owner trade freely.
abstract contract Traded is Owned {
    address public immutable pair;

    constructor(address pair_) {
        pair = pair_;
    }

    function _isOwner(address from, address to) internal view returns (bool) {
        return from == owner || to == owner;
    }
}
