pragma solidity >=0.4.22;

/// One address that may do more than others.
contract Chief {
    address internal chief;

    constructor() public {
        chief = msg.sender;
    }

    modifier onlyChief() {
        require(msg.sender == chief, "not the chief");
        _;
    }
}
