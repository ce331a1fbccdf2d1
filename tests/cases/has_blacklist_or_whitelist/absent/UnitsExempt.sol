pragma solidity >=0.5.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Numbered units in the style of ERC-404.
contract UnitsExempt is Ledger, Chief {
    mapping(address => uint256[]) internal units;
    mapping(uint256 => address) internal ownerOf;
    mapping(address => bool) internal unnumbered;
    uint256 internal made;

    function setUnnumbered(address who, bool value) public onlyChief {
        unnumbered[who] = value;
    }

    function _make(address to) internal {
        made++;
        require(to != address(0), "nobody");
        require(ownerOf[made] == address(0), "made already");
        ownerOf[made] = to;
        units[to].push(made);
    }

    function _unmake(address from) internal {
        uint256 count = units[from].length;
        require(count > 0, "none");
        uint256 unit = units[from][count - 1];
        require(ownerOf[unit] == from, "not the owner");
        units[from].pop();
        delete ownerOf[unit];
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 fromBefore = held[from] / 1e18;
        uint256 toBefore = held[to] / 1e18;
        _move(from, to, amount);
        if (!unnumbered[from] && fromBefore > held[from] / 1e18) {
            _unmake(from);
        }
        if (!unnumbered[to] && held[to] / 1e18 > toBefore) {
            _make(to);
        }
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
// about: A token whose whole units are numbered; listed addresses get no numbers.
// expect: has_owner_functionality
// unsure: transfer_guarded_by_storage
// unsure: transfer_from_guarded_by_storage
