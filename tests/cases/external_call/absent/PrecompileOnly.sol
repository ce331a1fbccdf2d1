pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Signatures and hashes are the precompiles' work.
contract PrecompileOnly is Ledger {
    function signer(bytes32 digest, uint8 v, bytes32 r, bytes32 s) public pure returns (address) {
        return ecrecover(digest, v, r, s);
    }

    function digest(bytes memory data) public pure returns (bytes32) {
        return sha256(data);
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
// about: Signatures and hashes are the precompiles' work.
