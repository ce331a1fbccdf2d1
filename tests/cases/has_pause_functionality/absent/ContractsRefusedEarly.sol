pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The first buyers may not be contracts; accounts buy from the start.
contract ContractsRefusedEarly is Ledger, Chief {
    uint256 internal bought;
    uint256 internal early = 15;
    address internal pair;

    function setPair(address who) public onlyChief {
        pair = who;
    }

    function setEarly(uint256 count) public onlyChief {
        early = count;
    }

    function _isContract(address who) internal view returns (bool) {
        uint256 size;
        assembly {
            size := extcodesize(who)
        }
        return size > 0;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (from == pair) {
            if (bought < early) {
                require(!_isContract(to), "contract");
            }
            bought++;
        }
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

// ----
// about: While few have bought, a buyer that is a contract is refused; holders with a wallet never are.
// expect: has_owner_functionality
// unsure: transfer_from_guarded_by_storage
// unsure: transfer_guarded_by_storage
