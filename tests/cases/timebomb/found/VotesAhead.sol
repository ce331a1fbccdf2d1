pragma solidity >=0.5.0;

import "../../base/Ledger.sol";

/// Votes are noted with a block that is still to come.
contract VotesAhead is Ledger {
    struct Point {
        uint32 since;
        uint96 votes;
    }

    mapping(address => address) public houseOf;
    mapping(address => address) public agentOf;
    mapping(address => mapping(uint32 => Point)) public points;
    mapping(address => uint32) public counts;

    mapping(address => uint256) public nonces;

    function join(address house) public {
        require(agentOf[house] == address(0) && houseOf[msg.sender] == address(0), "joined");
        houseOf[msg.sender] = house;
    }

    function choose(address agent) public {
        _name(msg.sender, agent);
    }

    function nameSigned(address agent, uint256 nonce, uint8 v, bytes32 r, bytes32 s) public {
        bytes32 domain = keccak256(
            abi.encode(keccak256("Domain(string name,address here)"), keccak256(bytes(name())), address(this))
        );
        bytes32 inner = keccak256(abi.encode(keccak256("Name(address agent,uint256 nonce)"), agent, nonce));
        bytes32 digest = keccak256(abi.encodePacked(bytes2(0x1901), domain, inner));
        address signer = ecrecover(digest, v, r, s);
        require(signer != address(0), "signature");
        require(nonce == nonces[signer]++, "nonce");
        _name(signer, agent);
    }

    function _name(address who, address agent) internal {
        address house = houseOf[who];
        address former = agentOf[house];
        agentOf[house] = agent;
        _shift(former, agent, uint96(held[who]));
    }

    function votesOf(address who) public view returns (uint96) {
        uint32 count = counts[who];
        return count > 0 ? points[who][count - 1].votes : 0;
    }

    function _shift(address from, address to, uint96 votes) internal {
        if (from != to && votes > 0) {
            if (from != address(0)) {
                uint32 count = counts[from];
                uint96 old = count > 0 ? points[from][count - 1].votes : 0;
                _note(from, count, _less(old, votes));
            }
            if (to != address(0)) {
                uint32 count = counts[to];
                uint96 old = count > 0 ? points[to][count - 1].votes : 0;
                _note(to, count, _more(old, votes));
            }
        }
    }

    function _note(address who, uint32 count, uint96 votes) internal {
        uint32 now_ = _small(block.number);
        if (count > 0 && points[who][count - 1].since == now_) {
            points[who][count - 1].votes = votes;
        } else {
            points[who][count] = Point(now_ + 9, votes);
            counts[who] = count + 1;
        }
    }

    function _small(uint256 value) internal pure returns (uint32) {
        require(value < 2**32, "large");
        return uint32(value);
    }

    function _more(uint96 a, uint96 b) internal pure returns (uint96) {
        uint96 c = a + b;
        require(c >= a, "large");
        return c;
    }

    function _less(uint96 a, uint96 b) internal pure returns (uint96) {
        require(b <= a, "small");
        return a - b;
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
        require(amount < 2**96, "large");
        _move(from, to, amount);
        _shift(agentOf[houseOf[from]], agentOf[houseOf[to]], uint96(amount));
    }
}

// ----
// about: Votes are noted with a block that is still to come.
// expect: timebomb
// unsure: has_pause_functionality
// unsure: pause_status_can_be_modified
// unsure: has_blacklist_or_whitelist
// unsure: has_trading_cap
// unsure: has_trading_cap_functionality
// unsure: trading_cooldown
// unsure: has_owner_functionality
// unsure: transfer_guarded_by_storage
// unsure: transfer_from_guarded_by_storage
