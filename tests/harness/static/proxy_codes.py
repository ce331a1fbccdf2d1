"""Runtime codes of clones and proxies."""

TARGET = "0x" + "be" * 20
SHORT_TARGET = "0x00000000" + "be" * 16
CLONES = {
    "EIP-1167": ("363d3d373d3d3d363d73{0}5af43d82803e903d91602b57fd5bf3", TARGET),
    "EIP-1167, sixteen-byte address": (
        "363d3d373d3d3d363d6f{0}5af43d82803e903d91602757fd5bf3",
        SHORT_TARGET,
    ),
    "shorter by a byte": ("3d3d3d3d363d3d37363d73{0}5af43d3d93803e602a57fd5bf3", TARGET),
    "ERC-7511, with PUSH0": ("365f5f375f5f365f73{0}5af43d5f5f3e5f3d91602a57fd5bf3", TARGET),
    "with arguments behind": (
        "3d3d3d3d363d3d3761002a603736393661002a013d73{0}5af43d3d93803e603557fd5bf3"
        + "00" * 40
        + "002a",
        TARGET,
    ),
    "Vyper": (
        "366000600037611000600036600073{0}5af4602c57600080fd5b6110006000f3",
        TARGET,
    ),
}


FRONTS = {
    "EIP-1167": "363d3d373d3d3d363d73{}5af43d82803e903d91602b57fd5bf3",
    "EIP-7511": "365f5f375f5f365f73{}5af43d5f5f3e5f3d91602a57fd5bf3",
    "with arguments behind it": "363d3d373d3d3d363d73{}5af43d82803e903d91602b57fd5bf3" + "11" * 60,
}
