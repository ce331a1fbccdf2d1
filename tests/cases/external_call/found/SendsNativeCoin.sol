pragma solidity >=0.5.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The contract's coins go to a stored wallet.
contract SendsNativeCoin is Ledger, Chief {
    address payable internal wallet;

    function setWallet(address payable value) public onlyChief {
        wallet = value;
    }

    function sweep() public {
        wallet.transfer(address(this).balance);
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
// about: The contract's coins go to a stored wallet.
// expect: external_call
// expect: has_owner_functionality
