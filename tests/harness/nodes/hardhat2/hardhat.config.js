// An empty chain that mines when it is told to. What differs between runs comes from the environment.
module.exports = {
  solidity: "0.8.28",
  networks: {
    hardhat: {
      chainId: Number(process.env.CHAIN_ID),
      initialDate: process.env.GENESIS,
      hardfork: "prague",
      blockGasLimit: 60_000_000,
      mining: { auto: false, mempool: { order: "fifo" } },
    },
  },
};
