pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The owner shares a slot with what was collected.
contract PackedAuthority is Ledger {
    struct Office {
        uint96 collected;
        address chief;
    }

    Office internal office;

    constructor() public {
        office.chief = msg.sender;
    }

    function issue(uint256 amount) public {
        require(office.chief == msg.sender, "not the chief");
        issued += amount;
        held[msg.sender] += amount;
        office.collected += 1;
    }

    function _pass(address from, address to, uint256 amount) internal {
        _move(from, to, amount);
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
