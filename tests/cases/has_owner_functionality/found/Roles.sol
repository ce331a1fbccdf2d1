pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Roles of addresses, as a mapping of mappings.
contract Roles is Ledger {
    mapping(bytes32 => mapping(address => bool)) internal roles;
    bytes32 internal constant ADMIN = 0x00;
    uint256 public note;

    constructor() public {
        roles[ADMIN][msg.sender] = true;
    }

    modifier onlyRole(bytes32 role) {
        require(roles[role][msg.sender], "role");
        _;
    }

    function grant(bytes32 role, address who) public onlyRole(ADMIN) {
        roles[role][who] = true;
    }

    function setNote(uint256 value) public onlyRole(keccak256("WRITER")) {
        note = value;
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
// about: Roles of addresses, as a mapping of mappings.
// expect: has_owner_functionality
