pragma solidity >=0.8.0;

import "../../base/Ledger.sol";

interface Receiver {
    function onTransferReceived(address operator, address from, uint256 amount, bytes calldata data)
        external
        returns (bytes4);
    function onApprovalReceived(address owner, uint256 amount, bytes calldata data) external returns (bytes4);
}

interface Token {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// Whoever is called after a transfer writes no allowance of this token.
contract CallsTheReceiver is Ledger {
    function transferAndCall(address to, uint256 amount, bytes memory data) public returns (bool) {
        transfer(to, amount);
        _tell(msg.sender, to, amount, data);
        return true;
    }

    function transferFromAndCall(address from, address to, uint256 amount, bytes memory data)
        public
        returns (bool)
    {
        transferFrom(from, to, amount);
        _tell(from, to, amount, data);
        return true;
    }

    function sweep(address token, address to, uint256 amount) public {
        require(Token(token).transferFrom(address(this), to, amount), "refused");
    }

    function _tell(address from, address to, uint256 amount, bytes memory data) internal {
        bytes4 answer = Receiver(to).onTransferReceived(msg.sender, from, amount, data);
        require(answer == 0x88a7ca5c, "not received");
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

// ----
// about: Wrappers in the style of ERC-1363 call an address that the sender chose.
// expect: external_call
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: transferAndCall(address,uint256,bytes)
// balance_update_function: transferFromAndCall(address,address,uint256,bytes)
// allowance_update_function: approve(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
// allowance_update_function: transferFromAndCall(address,address,uint256,bytes)
