pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A cap with exemptions, met on ways that part and join before it.
contract CapAfterForks is Ledger, Chief {
    address internal constant ROUTER = address(0x60aE616a2155Ee3d9A68541Ba4544862310933d4);
    address internal pool;
    bool internal busy;
    uint256 internal most = 1e22;
    uint256 internal largest = 1e23;
    mapping(address => bool) internal exempt;
    mapping(address => bool) internal free;

    function setExempt(address who, bool value) public onlyChief {
        exempt[who] = value;
        free[who] = value;
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

    function _pass(address from, address to, uint256 amount) internal {
        if (busy) {
            _move(from, to, amount);
            return;
        }
        bool isBuy = from == pool || from == ROUTER;
        bool isSale = to == pool || to == ROUTER;
        require(amount <= most || exempt[from], "too large");
        if (!isSale && !free[to]) {
            require(held[to] + amount < largest, "too much");
        }
        _move(from, to, isBuy ? amount - amount / 50 : amount);
    }
}
