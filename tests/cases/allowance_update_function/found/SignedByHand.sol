pragma solidity >=0.8.4;

/// A signature lends: who signed stands in memory beside a packed number and the spender.
contract SignedByHand {
    uint256 public totalSupply = 1e24;
    mapping(address => uint256) public balanceOf;

    function allowance(address owner, address spender) public view returns (uint256 amount) {
        assembly {
            mstore(0x20, spender)
            mstore(0x0c, 0x51deca11)
            mstore(0x00, owner)
            amount := sload(keccak256(0x0c, 0x34))
        }
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        assembly {
            mstore(0x20, spender)
            mstore(0x0c, 0x51deca11)
            mstore(0x00, caller())
            sstore(keccak256(0x0c, 0x34), amount)
        }
        return true;
    }

    function lend(address spender, uint256 amount, uint8 v, bytes32 r, bytes32 s) public {
        assembly {
            let free := mload(0x40)
            mstore(0x00, amount)
            mstore(0x20, v)
            mstore(0x40, r)
            mstore(0x60, s)
            pop(staticcall(gas(), 1, 0x00, 0x80, 0x20, 0x20))
            mstore(0x40, or(shl(160, 0x51deca11), shr(96, shl(96, spender))))
            sstore(keccak256(0x2c, 0x34), amount)
            mstore(0x40, free)
            mstore(0x60, 0)
        }
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        assembly {
            mstore(0x20, caller())
            mstore(0x0c, 0x51deca11)
            mstore(0x00, from)
            let place := keccak256(0x0c, 0x34)
            let left := sload(place)
            if lt(left, amount) {
                revert(0, 0)
            }
            sstore(place, sub(left, amount))
        }
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

// ----
// about: A signature lends: who signed stands in memory beside a packed number and the spender.
// allowance_update_function: approve(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
// allowance_update_function: lend(address,uint256,uint8,bytes32,bytes32)
