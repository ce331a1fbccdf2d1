pragma solidity >=0.8.0;

/// Places in storage are hashed by hand, from seeds, as Solady does.
contract HandMadeSlots {
    uint256 private constant HELD = 0x87a211a2;
    uint256 private constant LENT = 0x7f5e9f20;
    uint256 private constant SUPPLY = 0x05345cdf77eb68f44c;

    function totalSupply() public view returns (uint256 result) {
        assembly {
            result := sload(SUPPLY)
        }
    }

    function balanceOf(address who) public view returns (uint256 result) {
        assembly {
            mstore(0x0c, HELD)
            mstore(0x00, who)
            result := sload(keccak256(0x0c, 0x20))
        }
    }

    function allowance(address owner, address spender) public view returns (uint256 result) {
        assembly {
            mstore(0x20, spender)
            mstore(0x0c, LENT)
            mstore(0x00, owner)
            result := sload(keccak256(0x0c, 0x34))
        }
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        assembly {
            mstore(0x20, spender)
            mstore(0x0c, LENT)
            mstore(0x00, caller())
            sstore(keccak256(0x0c, 0x34), amount)
        }
        return true;
    }

    function burn(uint256 amount) public {
        assembly {
            mstore(0x0c, HELD)
            mstore(0x00, caller())
            let place := keccak256(0x0c, 0x20)
            let balance_ := sload(place)
            if gt(amount, balance_) { revert(0, 0) }
            sstore(place, sub(balance_, amount))
            sstore(SUPPLY, sub(sload(SUPPLY), amount))
        }
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _pass(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        assembly {
            mstore(0x20, caller())
            mstore(0x0c, LENT)
            mstore(0x00, from)
            let place := keccak256(0x0c, 0x34)
            let left := sload(place)
            if not(left) {
                if gt(amount, left) { revert(0, 0) }
                sstore(place, sub(left, amount))
            }
        }
        _pass(from, to, amount);
        return true;
    }

    function _pass(address from, address to, uint256 amount) internal {
        assembly {
            let head := or(shl(96, from), HELD)
            mstore(0x0c, head)
            let place := keccak256(0x0c, 0x20)
            let balance_ := sload(place)
            if gt(amount, balance_) { revert(0, 0) }
            sstore(place, sub(balance_, amount))
            mstore(0x00, to)
            place := keccak256(0x0c, 0x20)
            sstore(place, add(sload(place), amount))
        }
    }
}

// ----
// about: Places in storage are hashed by hand, from seeds, as Solady does.
// expect: mint_or_burn_function
// balance_update_function: burn(uint256)
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
