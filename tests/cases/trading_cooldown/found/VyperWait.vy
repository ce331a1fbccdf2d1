# pragma version ~=0.4.0
# A sender waits between two transfers, in Vyper.

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    value: uint256

name: public(constant(String[8])) = "Case"
decimals: public(constant(uint8)) = 18
totalSupply: public(uint256)
balanceOf: public(HashMap[address, uint256])
allowance: public(HashMap[address, HashMap[address, uint256]])
last: HashMap[address, uint256]

@deploy
def __init__():
    self.totalSupply = 10**24
    self.balanceOf[msg.sender] = 10**24


@external
def approve(spender: address, amount: uint256) -> bool:
    self.allowance[msg.sender][spender] = amount
    return True


@external
def transfer(to: address, amount: uint256) -> bool:
    self._move(msg.sender, to, amount)
    return True


@external
def transferFrom(holder: address, to: address, amount: uint256) -> bool:
    self.allowance[holder][msg.sender] -= amount
    self._move(holder, to, amount)
    return True


@internal
def _move(holder: address, to: address, amount: uint256):
    assert block.timestamp >= self.last[holder] + 60, "wait"
    self.last[holder] = block.timestamp
    assert to != empty(address)
    self.balanceOf[holder] -= amount
    self.balanceOf[to] += amount
    log Transfer(sender=holder, receiver=to, value=amount)

# ----
# about: A sender waits between two transfers, in Vyper.
# expect: timebomb
# expect: trading_cooldown
# expect: transfer_from_guarded_by_storage
# expect: transfer_guarded_by_storage
# unsure: has_blacklist_or_whitelist
# unsure: has_owner_functionality
