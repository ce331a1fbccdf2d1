pragma solidity >=0.8.0;

import "../../base/Chief.sol";
import "../../base/Ledger.sol";

/// From an amount on, the coins held are paid out: that needs a wallet, and is no cap.
contract SwapNeedsAWallet is Ledger, Chief {
    uint256 internal threshold;
    address payable internal wallet;

    function setUp(uint256 value, address payable who) public onlyChief {
        threshold = value;
        wallet = who;
    }

    receive() external payable {}

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
        if (amount > threshold) {
            require(wallet != address(0), "no wallet");
            wallet.transfer(address(this).balance);
        }
        _move(from, to, amount);
    }
}

// ----
// about: From an amount on, the coins held are paid out: that needs a wallet, and is no cap.
// expect: external_call
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_pause_functionality
// unsure: pause_status_can_be_modified
