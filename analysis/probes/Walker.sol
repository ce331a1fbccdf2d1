// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Looks for an address in a list that can only be asked by number, the newest entry first.
///
/// Put on a node's stage by a code override. One word of each entry is compared; an entry that is
/// a struct opens with an offset, and its words begin one later. Numbers from the count down to 0
/// are asked, as some lists begin at 0 and others at 1; what does not answer is passed over. Ends
/// early before the gas runs out.
contract Walker {
    uint256 private constant ENTRY_GAS = 400_000;
    uint256 private constant LAST_GAS = 500_000;

    /// `left`: how many older entries there may be that were not asked any more.
    function find(address list, bytes4 count, bytes4 entry, uint256 place, address wanted)
        external
        view
        returns (bool found, uint256 left)
    {
        (bool ok, bytes memory told) = list.staticcall(abi.encodePacked(count));
        require(ok && told.length == 32);
        uint256 index = abi.decode(told, (uint256));
        while (true) {
            if (index > 0 && gasleft() < LAST_GAS) return (false, index);
            if (_names(list, entry, index, place, wanted)) return (true, 0);
            if (index == 0) return (false, 0);
            --index;
        }
    }

    /// Copies no more of the entry than the words that are looked at.
    function _names(address list, bytes4 entry, uint256 index, uint256 place, address wanted)
        private
        view
        returns (bool same)
    {
        assembly {
            let at := mload(64)
            mstore(at, entry)
            mstore(add(at, 4), index)
            let size := mul(add(place, 2), 32)
            let ok := staticcall(ENTRY_GAS, list, at, 36, at, size)
            let word := mul(add(place, eq(mload(at), 32)), 32)
            same := and(eq(mload(add(at, word)), wanted), and(ok, gt(returndatasize(), add(word, 31))))
        }
    }
}
