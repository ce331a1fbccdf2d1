// An empty chain that mines when it is told to. What differs between runs comes from the environment.
export default {
  networks: {
    node: {
      type: "edr-simulated",
      chainType: "l1",
      chainId: Number(process.env.CHAIN_ID),
      initialDate: process.env.GENESIS,
      hardfork: "prague",
      blockGasLimit: 60_000_000n,
      mining: { auto: false, mempool: { order: "fifo" } },
    },
  },
};
