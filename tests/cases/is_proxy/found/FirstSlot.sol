pragma solidity >=0.6.0;

/// The implementation is simply the first variable.
contract FirstSlot {
    address internal target_;

    function change(address next) public {
        require(target_ == address(0) || msg.sender == address(this), "no");
        target_ = next;
    }

    fallback() external payable {
        address target = target_;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }

    receive() external payable {}
}

// ----
// about: The implementation is simply the first variable.
// expect: is_proxy
// only: is_proxy
