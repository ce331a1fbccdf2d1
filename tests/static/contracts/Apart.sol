// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "base/Erc20.sol";

/// Tokens whose transfers read a word that a store to a computed place may have written, and
/// tokens whose stores to computed places leave every other word alone.

abstract contract Kept is Erc20 {
    address internal maker = msg.sender;
    uint256 internal _round;
    uint256 internal _at;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function checkpoint(uint256 round, uint256 at) external {
        require(msg.sender == maker, "no");
        _round = round;
        _at = at;
    }

    function _halt() internal virtual returns (uint256);

    function _transfer(address from, address to, uint256 amount) internal override {
        require(_halt() == 0, "halt");
        _move(from, to, amount);
    }
}

contract SizeOfCalldata is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) mstore(add(0x59c, calldatasize()), sload(_round.slot)) h := mload(0x600)
        }
    }
}

contract StoredAddress is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) mstore(sload(_at.slot), sload(_round.slot)) h := mload(0x600)
        }
    }
}

contract BelowByWrap is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x400, 0) mstore(add(0x600, sload(_at.slot)), sload(_round.slot)) h := mload(0x400)
        }
    }
}

contract ArgumentAsOffset is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) mstore(add(0x400, shr(96, calldataload(36))), sload(_round.slot)) h := mload(0x600)
        }
    }
}

contract OneByte is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) mstore8(add(0x5bb, calldatasize()), sload(_round.slot)) h := mload(0x600)
        }
    }
}

contract CopiedMemory is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) mstore(0x800, sload(_round.slot)) mcopy(add(0x59c, calldatasize()), 0x800, 32) h := mload(0x600)
        }
    }
}

contract CopiedCalldata is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) calldatacopy(add(0x59c, calldatasize()), 36, 32) h := shr(255, mload(0x600))
        }
    }
}

contract CopiedCode is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) extcodecopy(sload(_at.slot), add(0x59c, calldatasize()), 0, 32) h := mload(0x600)
        }
    }
}

contract CallOutput is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) mstore(0x800, sload(_round.slot)) pop(staticcall(gas(), 4, 0x800, 32, add(0x59c, calldatasize()), 32)) h := mload(0x600)
        }
    }
}

contract ReturnedData is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) mstore(0x800, sload(_round.slot)) pop(staticcall(gas(), 4, 0x800, 32, 0, 0)) returndatacopy(add(0x59c, calldatasize()), 0, 32) h := mload(0x600)
        }
    }
}

contract FreePointer is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) let kept := mload(0x40) mstore(0x40, sload(_at.slot)) mstore(mload(0x40), sload(_round.slot)) mstore(0x40, kept) h := mload(0x600)
        }
    }
}

contract GasLeft is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) mstore(add(0x5e0, and(gas(), 0x60)), sload(_round.slot)) h := mload(0x600)
        }
    }
}

contract ChainNumber is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) mstore(add(0x5ff, chainid()), sload(_round.slot)) h := mload(0x600)
        }
    }
}

contract HashedScratch is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0, 0x1234) mstore(0x20, 77) mstore(sub(calldatasize(), 0x44), address()) h := sload(keccak256(0, 0x40))
        }
    }
}

contract WordsInALoop is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x600, 0) for { let i := 0 } lt(i, calldatasize()) { i := add(i, 1) } { mstore(add(0x500, mul(i, 32)), sload(_round.slot)) } h := mload(0x600)
        }
    }
}

contract LowerEachRound is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x400, 0) let p := 0x800 for { let i := 0 } lt(i, sload(_at.slot)) { i := add(i, 1) } { mstore(p, sload(_round.slot)) p := sub(p, 32) } h := mload(0x400)
        }
    }
}

contract SlotOfChain is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            h := sload(add(chainid(), 0xabcdef))
        }
    }
}

contract SlotOfSize is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            h := sload(calldatasize())
        }
    }
}

contract SlotOfArgument is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            h := sload(add(calldataload(4), sload(_at.slot)))
        }
    }
}

contract SlotInSlot is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            h := sload(sload(_at.slot))
        }
    }
}

contract IndexWithoutLength is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0, _at.slot) h := sload(add(keccak256(0, 32), sload(_at.slot)))
        }
    }
}

contract HonestScratch is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0, caller()) mstore(0x20, 77) h := sload(keccak256(0, 0x40))
        }
    }
}

contract HonestAllocated is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            let p := mload(0x40) mstore(p, 0) mstore(add(p, 0x20), 1) mstore(0x40, add(p, 0x40)) h := mload(p)
        }
    }
}

contract HonestAllocatedBySize is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            let p := mload(0x40) mstore(0x40, add(p, and(add(calldatasize(), 0x1f), not(0x1f)))) calldatacopy(p, 0, calldatasize()) let q := mload(0x40) mstore(q, 7) mstore(0, 0) h := mload(0)
        }
    }
}

contract HonestBehind is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x400, 0) mstore(add(0x420, calldatasize()), 1) h := mload(0x400)
        }
    }
}

contract HonestRounded is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x400, 0) mstore(and(add(0x43f, calldatasize()), not(0x1f)), 1) h := mload(0x400)
        }
    }
}

contract HonestBoundedByte is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal override returns (uint256 h) {
        assembly {
            mstore(0x400, 0) mstore(add(0x420, byte(31, calldataload(4))), 1) h := mload(0x400)
        }
    }
}

/// What the compiler makes of texts and lists.
contract HonestTexts is Kept {
    string public memo;
    mapping(bytes32 => bool) internal _used;

    constructor(string memory n, string memory s) Kept(n, s) {}

    function write(string calldata text, uint256[] calldata list) external {
        require(msg.sender == maker, "no");
        uint256[] memory words = list;
        bytes memory packed = abi.encodePacked(text, words, memo);
        _used[keccak256(packed)] = true;
        memo = text;
    }

    function _halt() internal view override returns (uint256) {
        bytes memory packed = abi.encode(name, msg.sender);
        return packed.length == 0 ? 1 : 0;
    }
}

/// A list filled word by word, read at a number.
contract HonestList is Kept {
    constructor(string memory n, string memory s) Kept(n, s) {}

    function _halt() internal view override returns (uint256) {
        address[] memory path = new address[](3);
        path[0] = address(this);
        path[1] = msg.sender;
        path[2] = address(0);
        return path[2] == address(0) ? 0 : 1;
    }
}
