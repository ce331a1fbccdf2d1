// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IFactory {
    function getPair(address a, address b) external view returns (address);
}

interface IPair {
    function getReserves() external view returns (uint112, uint112, uint32);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

interface IErc20 {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
}

interface IWrapped {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

interface IPermit2 {
    function transferFrom(address from, address to, uint160 amount, address token) external;
}

/// The commands of Uniswap's universal router that a wallet needs to trade in a pair, each with the
/// original's number, arguments and special receivers. Source: universal-router, Commands,
/// Dispatcher, V2SwapRouter, Payments.
contract Router {
    address private constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    address private constant MSG_SENDER = address(1);
    address private constant ADDRESS_THIS = address(2);

    address private factory;
    address private wrapped;

    receive() external payable {}

    function open(address factory_, address wrapped_) external {
        factory = factory_;
        wrapped = wrapped_;
    }

    function execute(bytes calldata commands, bytes[] calldata inputs, uint256 deadline)
        external
        payable
    {
        require(block.timestamp <= deadline, "TransactionDeadlinePassed");
        for (uint256 at = 0; at < commands.length; ++at) {
            uint8 command = uint8(commands[at]);
            if (command == 0x08) _swap(inputs[at]);
            else if (command == 0x0b) _wrap(inputs[at]);
            else if (command == 0x0c) _unwrap(inputs[at]);
            else revert("InvalidCommandType");
        }
    }

    function _swap(bytes calldata input) private {
        (address to, uint256 amount, uint256 least, address[] memory path, bool isUser) =
            abi.decode(input, (address, uint256, uint256, address[], bool));
        address pair = IFactory(factory).getPair(path[0], path[1]);
        if (isUser) IPermit2(PERMIT2).transferFrom(msg.sender, pair, uint160(amount), path[0]);
        else IErc20(path[0]).transfer(pair, amount);
        (uint256 there, uint256 other,) = IPair(pair).getReserves();
        bool upwards = path[0] < path[1];
        if (!upwards) (there, other) = (other, there);
        uint256 paid = (IErc20(path[0]).balanceOf(pair) - there) * 997;
        uint256 out = paid * other / (there * 1000 + paid);
        address receiver = _mapped(to);
        uint256 before = IErc20(path[1]).balanceOf(receiver);
        IPair(pair).swap(upwards ? 0 : out, upwards ? out : 0, receiver, "");
        require(IErc20(path[1]).balanceOf(receiver) - before >= least, "V2TooLittleReceived");
    }

    function _wrap(bytes calldata input) private {
        (address to, uint256 amount) = abi.decode(input, (address, uint256));
        IWrapped(wrapped).deposit{value: amount}();
        if (_mapped(to) != address(this)) IErc20(wrapped).transfer(_mapped(to), amount);
    }

    function _unwrap(bytes calldata input) private {
        (address to, uint256 least) = abi.decode(input, (address, uint256));
        uint256 held = IErc20(wrapped).balanceOf(address(this));
        require(held >= least, "InsufficientETH");
        IWrapped(wrapped).withdraw(held);
        payable(_mapped(to)).transfer(held);
    }

    function _mapped(address to) private view returns (address) {
        if (to == MSG_SENDER) return msg.sender;
        return to == ADDRESS_THIS ? address(this) : to;
    }
}
