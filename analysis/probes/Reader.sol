// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Runs many reads in one eth_call, also reads whose address is the answer to an earlier read.
///
/// Never deployed: it is put at an address by a code override, either at an address of nobody's, or
/// at a contract whose own storage is to be read (the storage stays when the code is replaced).
///
/// Calldata: the number of reads (2 bytes), then each read:
///   kind     1  lower half: 0: call; 1: code of an address; 2: storage word of the contract this
///               code is put at; upper half, of a call: which word of the answer gives its address
///   ref      2  the earlier read whose address is put in; ffff: none
///   place    2  where: at this offset of the data, as a word; ffff: in place of `to`
///   gas      4  of a call
///   most     3  bytes of the answer that are wanted
///   to      20
///   length   2
///   data
/// Answer: block number, block time, hash of the block before, proposer (32 bytes each), then for
/// each read a status (1 byte), a length (3 bytes) and so many bytes. Status:
///   0 the call failed            1 it succeeded
///   2 nothing was learnt, because gas ran out: the read's own, or that of all together
///   3 cut: the answer is longer than wanted
///   4 not run: the earlier read gave no address
///
/// Every call is undone before the next one (it runs in a call of this contract to itself, which
/// always reverts), so that a read that writes, or burns its gas, changes no neighbour's answer.
contract Reader {
    fallback() external payable {
        assembly {
            // The address in what an earlier read brought: of a short code, the first one that it
            // pushes (a minimal proxy's target, which may have lost leading zeros).
            function pushed(start, end) -> found {
                for { let at := start } lt(at, end) {} {
                    let op := byte(0, mload(at))
                    at := add(at, 1)
                    if and(gt(op, 0x5f), lt(op, 0x80)) {
                        let size := sub(op, 0x5f)
                        if and(and(gt(size, 13), lt(size, 21)), iszero(gt(add(at, size), end))) {
                            found := shr(sub(256, mul(8, size)), mload(at))
                            leave
                        }
                        at := add(at, size)
                    }
                }
            }

            if eq(caller(), address()) {
                // One call, to be undone: to (20), gas (4), most (3), data.
                let size := sub(calldatasize(), 27)
                calldatacopy(0, 27, size)
                let allotted := shr(224, calldataload(20))
                let before := gas()
                let status := call(allotted, shr(96, calldataload(0)), 0, 0, size, 0, 0)
                if iszero(or(status, lt(sub(before, gas()), sub(allotted, div(allotted, 32))))) {
                    status := 2
                }
                let length := returndatasize()
                let most := shr(232, calldataload(24))
                if gt(length, most) {
                    length := most
                    status := 3
                }
                mstore8(0, status)
                returndatacopy(1, 0, length)
                revert(0, add(1, length))
            }

            // Memory: one word a read with the address it gave, then the answer, then scratch.
            let count := shr(240, calldataload(0))
            let start := mul(count, 32)
            mstore(start, number())
            mstore(add(start, 32), timestamp())
            mstore(add(start, 64), blockhash(sub(number(), 1)))
            mstore(add(start, 96), coinbase())
            let end := add(start, 128)
            let at := 2
            for { let index := 0 } lt(index, count) { index := add(index, 1) } {
                let head := calldataload(at)
                let size := shr(240, calldataload(add(at, 32)))
                let subject := and(head, 0xffffffffffffffffffffffffffffffffffffffff)
                let place := and(shr(216, head), 0xffff)
                let most := and(shr(160, head), 0xffffff)
                let ref := and(shr(232, head), 0xffff)
                let status := 4
                let length := 0
                let given := 0
                let known := 1
                if iszero(eq(ref, 0xffff)) {
                    known := mload(mul(ref, 32))
                    if eq(place, 0xffff) { subject := known }
                }
                if known {
                    switch and(byte(0, head), 0x0f)
                    case 0 {
                        status := 2
                        let allotted := and(shr(184, head), 0xffffffff)
                        // What is kept back twice on the way down (EIP-150), and some for ourselves.
                        if gt(gas(), add(add(allotted, div(allotted, 16)), 100000)) {
                            mstore(end, shl(96, subject))
                            mstore(add(end, 20), shl(224, allotted))
                            mstore(add(end, 24), shl(232, most))
                            calldatacopy(add(end, 27), add(at, 34), size)
                            if iszero(or(eq(ref, 0xffff), eq(place, 0xffff))) {
                                mstore(add(add(end, 27), place), known)
                            }
                            pop(call(gas(), address(), 0, end, add(27, size), 0, 0))
                            if returndatasize() {
                                length := sub(returndatasize(), 1)
                                returndatacopy(add(end, 3), 0, add(1, length))
                                status := byte(0, mload(add(end, 3)))
                            }
                        }
                        let word := mul(32, shr(4, byte(0, head)))
                        if and(eq(status, 1), gt(length, add(31, word))) {
                            given := mload(add(add(end, 4), word))
                            if shr(160, given) { given := 0 }
                        }
                    }
                    case 1 {
                        status := 1
                        length := extcodesize(subject)
                        if gt(length, most) {
                            length := most
                            status := 3
                        }
                        extcodecopy(subject, add(end, 4), 0, length)
                        if lt(length, 129) { given := pushed(add(end, 4), add(add(end, 4), length)) }
                    }
                    default {
                        status := 1
                        length := 32
                        let word := sload(calldataload(add(at, 34)))
                        mstore(add(end, 4), word)
                        given := and(word, 0xffffffffffffffffffffffffffffffffffffffff)
                    }
                }
                mstore8(end, status)
                mstore8(add(end, 1), shr(16, length))
                mstore8(add(end, 2), shr(8, length))
                mstore8(add(end, 3), length)
                end := add(end, add(4, length))
                mstore(mul(index, 32), given)
                at := add(at, add(34, size))
            }
            return(start, sub(end, start))
        }
    }
}
