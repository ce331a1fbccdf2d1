pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The clock is compared with the caller's own deadline only.
contract PermitDeadline is Ledger {
    mapping(address => uint256) public nonces;

    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) public {
        require(deadline >= block.timestamp, "late");
        bytes32 digest = keccak256(abi.encode(owner, spender, value, nonces[owner]++, deadline));
        address signer = ecrecover(digest, v, r, s);
        require(signer != address(0) && signer == owner, "signature");
        lent[owner][spender] = value;
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
// about: The clock is compared with the caller's own deadline only.
// allowance_update_function: approve(address,uint256)
// allowance_update_function: permit(address,address,uint256,uint256,uint8,bytes32,bytes32)
// allowance_update_function: transferFrom(address,address,uint256)
