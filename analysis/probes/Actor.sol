// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Makes calls one after another from an account that has no code.
///
/// Sent as the code of a creation, which an eth_call runs and whose result it returns: an account
/// under construction has no code yet (EXTCODESIZE is 0), so a contract takes it for a wallet, but
/// for tx.origin, which is somebody else. The script stands behind this code, its length in the
/// last two bytes; each call of it:
///   gas 4, value 16, to 20, length 2, data
/// Answer: the account (32 bytes), then for each call a status (0 failed, 1 succeeded, 2 not made:
/// too little gas was left), a length (3 bytes) and the first 512 bytes it returned.
contract Actor {
    fallback() external payable {
        assembly {
            codecopy(30, sub(codesize(), 2), 2)
            let size := and(mload(0), 0xffff)
            let start := 0x80
            codecopy(start, sub(sub(codesize(), 2), size), size)
            let limit := add(start, size)
            mstore(limit, address())
            let end := add(limit, 32)
            for { let at := start } lt(at, limit) {} {
                let head := mload(at)
                let allotted := shr(224, head)
                let length := and(shr(240, mload(add(at, 40))), 0xffff)
                let status := 2
                let told := 0
                // What is kept back on the way down (EIP-150), and some for ourselves.
                if gt(gas(), add(add(allotted, div(allotted, 32)), 1500000)) {
                    status := call(
                        allotted,
                        shr(96, mload(add(at, 20))),
                        and(shr(96, head), 0xffffffffffffffffffffffffffffffff),
                        add(at, 42),
                        length,
                        0,
                        0
                    )
                    told := returndatasize()
                    if gt(told, 512) { told := 512 }
                    returndatacopy(add(end, 4), 0, told)
                }
                mstore8(end, status)
                mstore8(add(end, 1), 0)
                mstore8(add(end, 2), shr(8, told))
                mstore8(add(end, 3), told)
                end := add(end, add(4, told))
                at := add(at, add(42, length))
            }
            return(limit, sub(end, limit))
        }
    }
}
