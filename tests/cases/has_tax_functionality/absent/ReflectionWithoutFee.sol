pragma solidity >=0.6.0;

import "../../base/Lender.sol";
import "../../base/Chief.sol";

/// Shares like those of a reflection token, of which none is taken.
contract ReflectionWithoutFee is Lender, Chief {
    struct Values {
        uint256 shares;
        uint256 sharesPassed;
        uint256 sharesTaken;
        uint256 passed;
        uint256 taken;
        uint256 kept;
    }

    uint256 internal constant MOST = ~uint256(0);
    uint256 internal total = 1e24;
    uint256 internal shared = MOST - (MOST % 1e24);
    mapping(address => uint256) internal shares;
    mapping(address => bool) internal exempt;

    constructor() public {
        shares[msg.sender] = shared;
        exempt[msg.sender] = true;
    }

    function totalSupply() public view returns (uint256) {
        return total;
    }

    function balanceOf(address who) public view returns (uint256) {
        return shares[who] / _rate();
    }

    function setExempt(address who, bool value) public onlyChief {
        exempt[who] = value;
    }

    function _rate() internal view returns (uint256) {
        return shared / total;
    }

    function _values(uint256 amount, bool isTaxed) internal view returns (Values memory v) {
        v = _plainValues(amount, isTaxed);
        (v.shares, v.sharesPassed, v.sharesTaken) = _shareValues(v, amount, isTaxed, _rate());
        return v;
    }

    function _plainValues(uint256 amount, bool isTaxed) internal view returns (Values memory v) {
        if (!isTaxed) {
            v.passed = amount;
            return v;
        }
        v.passed = amount;
        return v;
    }

    function _shareValues(Values memory v, uint256 amount, bool isTaxed, uint256 rate)
        internal
        pure
        returns (uint256 all, uint256 passed, uint256 taken)
    {
        all = amount * rate;
        if (!isTaxed) {
            return (all, all, 0);
        }
        return (all, v.passed * rate, 0);
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(from != address(0) && to != address(0), "nobody");
        bool isTaxed = !(exempt[from] || exempt[to]);
        Values memory v = _values(amount, isTaxed);
        require(shares[from] >= v.shares, "balance");
        shares[from] = shares[from] - v.shares;
        shares[to] = shares[to] + v.sharesPassed;
        emit Transfer(from, to, v.passed);
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _pass(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        _spend(from, amount);
        _pass(from, to, amount);
        return true;
    }
}

// ----
// about: Books kept in shares, passed on whole through values in memory.
// expect: has_owner_functionality
