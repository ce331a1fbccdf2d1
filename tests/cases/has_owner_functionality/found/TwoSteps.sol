pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// A new owner must accept; an ownerless token stays so.
contract TwoSteps is Ledger {
    address internal boss;
    address internal next;
    uint256 public note;

    constructor() public {
        boss = msg.sender;
    }

    function owner() public view returns (address) {
        return boss;
    }

    function offer(address to) public {
        _check();
        next = to;
    }

    function accept() public {
        address who = _sender();
        require(next == who, "not offered");
        boss = who;
        next = address(0);
    }

    function renounce() public {
        _check();
        boss = address(0);
    }

    function _sender() internal view returns (address) {
        return msg.sender;
    }

    function _check() internal view {
        require(owner() == _sender(), "no");
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
        _move(from, to, amount);
    }
}

// ----
// about: A new owner must accept; an ownerless token stays so.
// expect: has_owner_functionality
