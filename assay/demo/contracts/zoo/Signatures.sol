// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// Permits that read the answer of a call which may have answered nothing, each beside an honest one.

abstract contract SignedToken is Erc20 {
    mapping(address => uint256) public nonces;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _digest(address o, address to, uint256 v) internal returns (bytes32) {
        return keccak256(abi.encode(address(this), block.chainid, o, to, v, nonces[o]++));
    }
}

/// Where `ecrecover` fails, the holder that was put there before is still in its output word.
contract StaleSigner is SignedToken {
    constructor(string memory n, string memory s) SignedToken(n, s) {}

    function permit(address o, address to, uint256 v, uint8 sv, bytes32 r, bytes32 ss) external {
        require(r != 0 && ss != 0 && (sv == 27 || sv == 28), "form");
        bytes32 digest = _digest(o, to, v);
        address by;
        assembly {
            let m := mload(0x40)
            mstore(m, digest)
            mstore(add(m, 0x20), sv)
            mstore(add(m, 0x40), r)
            mstore(add(m, 0x60), ss)
            mstore(0x20, o)
            pop(staticcall(gas(), 1, m, 0x80, 0x20, 0x20))
            by := mload(0x20)
        }
        require(by != address(0) && by == o, "signature");
        _allowances[o][to] = v;
    }
}

/// The honest double: the output word is zero before.
contract ClearedSigner is SignedToken {
    constructor(string memory n, string memory s) SignedToken(n, s) {}

    function permit(address o, address to, uint256 v, uint8 sv, bytes32 r, bytes32 ss) external {
        require(r != 0 && ss != 0 && (sv == 27 || sv == 28), "form");
        bytes32 digest = _digest(o, to, v);
        address by;
        assembly {
            let m := mload(0x40)
            mstore(m, digest)
            mstore(add(m, 0x20), sv)
            mstore(add(m, 0x40), r)
            mstore(add(m, 0x60), ss)
            mstore(0x20, 0)
            pop(staticcall(gas(), 1, m, 0x80, 0x20, 0x20))
            by := mload(0x20)
        }
        require(by != address(0) && by == o, "signature");
        _allowances[o][to] = v;
    }
}

/// The honest double: what is in the output word counts only if something was returned.
contract SizedSigner is SignedToken {
    constructor(string memory n, string memory s) SignedToken(n, s) {}

    function permit(address o, address to, uint256 v, uint8 sv, bytes32 r, bytes32 ss) external {
        require(r != 0 && ss != 0 && (sv == 27 || sv == 28), "form");
        bytes32 digest = _digest(o, to, v);
        address by;
        assembly {
            let m := mload(0x40)
            mstore(m, digest)
            mstore(add(m, 0x20), sv)
            mstore(add(m, 0x40), r)
            mstore(add(m, 0x60), ss)
            mstore(0x20, o)
            pop(staticcall(gas(), 1, m, 0x80, 0x20, 0x20))
            if iszero(returndatasize()) {
                revert(0, 0)
            }
            by := mload(0x20)
        }
        require(by != address(0) && by == o, "signature");
        _allowances[o][to] = v;
    }
}

/// An account without code answers nothing, and the answer that was put there before is the right one.
contract StaleAnswer is SignedToken {
    constructor(string memory n, string memory s) SignedToken(n, s) {}

    function permit(address o, address to, uint256 v, bytes calldata signature) external {
        require(signature.length > 64, "form");
        bytes memory asked = abi.encodeWithSelector(0x1626ba7e, _digest(o, to, v), signature);
        bool agrees;
        assembly {
            mstore(0, shl(224, 0x1626ba7e))
            agrees := staticcall(gas(), o, add(asked, 32), mload(asked), 0, 32)
            agrees := and(agrees, eq(mload(0), shl(224, 0x1626ba7e)))
        }
        require(agrees, "signature");
        _allowances[o][to] = v;
    }
}

/// The honest double: an answer has 32 bytes.
contract SizedAnswer is SignedToken {
    constructor(string memory n, string memory s) SignedToken(n, s) {}

    function permit(address o, address to, uint256 v, bytes calldata signature) external {
        require(signature.length > 64, "form");
        bytes memory asked = abi.encodeWithSelector(0x1626ba7e, _digest(o, to, v), signature);
        bool agrees;
        assembly {
            mstore(0, shl(224, 0x1626ba7e))
            agrees := staticcall(gas(), o, add(asked, 32), mload(asked), 0, 32)
            if lt(returndatasize(), 32) {
                revert(0, 0)
            }
            agrees := and(agrees, eq(mload(0), shl(224, 0x1626ba7e)))
        }
        require(agrees, "signature");
        _allowances[o][to] = v;
    }
}
