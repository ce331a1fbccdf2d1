// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "base/Erc20.sol";

/// Tokens that store behind the hash of a variable: at a bounded distance, or anywhere.

/// The number of a piece of the picture may lead to a balance.
contract PieceByNumber is Erc20 {
    string public picture;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setPiece(uint256 at, uint256 piece) external {
        assembly {
            mstore(0, picture.slot)
            sstore(add(keccak256(0, 32), at), piece)
        }
    }
}

/// Each piece follows the last one by a step of the caller's choice.
contract Strides is Erc20 {
    string public picture;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setPieces(uint256 step, uint256 count, uint256 piece) external {
        assembly {
            mstore(0, picture.slot)
            let at := keccak256(0, 32)
            for { let i := 0 } lt(i, count) { i := add(i, 1) } {
                at := add(at, step)
                sstore(at, piece)
            }
        }
    }
}

/// The index is below a length that anybody sets.
contract LongList is Erc20 {
    uint256[] public list;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function resize(uint256 length) external {
        assembly {
            sstore(list.slot, length)
        }
    }

    function put(uint256 at, uint256 word) external {
        list[at] = word;
    }
}

/// An empty list loses an element.
contract ShortList is Erc20 {
    uint256[] public list;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function pop() external {
        assembly {
            sstore(list.slot, sub(sload(list.slot), 1))
        }
    }

    function put(uint256 at, uint256 word) external {
        list[at] = word;
    }
}

/// One check for two decrements.
contract PoppedTwice is Erc20 {
    uint256[] public list;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function push(uint256 word) external {
        list.push(word);
    }

    function popTwo() external {
        require(list.length > 0, "empty");
        assembly {
            sstore(list.slot, sub(sload(list.slot), 1))
            sstore(list.slot, sub(sload(list.slot), 1))
        }
    }

    function put(uint256 at, uint256 word) external {
        list[at] = word;
    }
}

/// The mapping's number is read from storage: it is that of the balances.
contract StoredPlace is Erc20 {
    uint256 private _place = 2;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function note(address account, uint256 word) external {
        assembly {
            mstore(0, account)
            mstore(32, sload(_place.slot))
            sstore(keccak256(0, 64), word)
        }
    }
}

/// What compilers make of strings, lists and structs, for anybody to write.
contract SoundPlaces is Erc20 {
    struct Entry {
        uint128 number;
        string text;
    }

    string public picture;
    uint256[] public list;
    mapping(uint256 => string) public texts;
    mapping(address => uint256[]) public own;
    Entry[] public entries;
    bool private _isSet;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function initialize(string memory first, string calldata second) external {
        require(!_isSet, "set");
        _isSet = true;
        picture = first;
        texts[0] = second;
    }

    function setPicture(string calldata text) external {
        picture = text;
    }

    function setText(uint256 number, string calldata text) external {
        texts[number] = text;
    }

    function push(uint256 word) external {
        list.push(word);
        own[msg.sender].push(word);
    }

    function put(uint256 at, uint256 word) external {
        list[at] = word;
        own[msg.sender][at] = word;
    }

    function remove(uint256 at) external {
        list[at] = list[list.length - 1];
        list.pop();
    }

    function setList(uint256[] calldata words) external {
        list = words;
    }

    function add(uint128 number, string calldata text) external {
        entries.push(Entry(number, text));
    }

    function change(uint256 at, uint128 number) external {
        entries[at].number = number;
        entries[at].text = "";
    }
}
