/**
 * What a thief of the custodian's key meets: the chain, and the sources of the custodian and of the mint witness. Each
 * side has three nodes and three Bitcoin indexes, and the thief controls one of each.
 * @module
 */
import { getTransactionDecoder } from '@solana/web3.js';
import { decodeBase58, encodeBase58 } from '../../src/chain/solana/address.ts';
import type { MintTerms } from '../../src/chain/solana/mint-request.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { sats } from '../../src/core/amount.ts';
import { orUndefined } from '../../src/core/or-undefined.ts';
import type { Esplora } from '../../src/providers/esplora.ts';
import type { SolanaNode } from '../../src/providers/solana-rpc.ts';
import { decodeMessage } from '../chain/solana/decode-message.ts';
import { type Bitcoin, createBitcoin } from './bitcoin.ts';
import { calm, wildFaults } from './faults.ts';
import { createLedger, type Entry, key, type Ledger } from './ledger.ts';
import { createNodes } from './nodes.ts';
import type { Production } from './production.ts';
import { createRandom, type Random } from './random.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';
import { readWire, signatureOf } from './transactions.ts';

/** The public key of 32 bytes with this value is a point of the curve. */
const keyAt = (value: number): string => encodeBase58(new Uint8Array(32).fill(value));
export const CUSTODIAN = keyAt(3);
export const WITNESS = keyAt(4);
export const STRANGER = keyAt(5);
export const TERMS: MintTerms = {
  custodian: CUSTODIAN,
  multisig: { address: keyAt(20), witness: WITNESS },
  mint: keyAt(21),
  owner: keyAt(22),
};
export const SCALE = 100n;
export const DECIMALS = 2;
export const BITCOIN_ADDRESS = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const START_SATS = 50_000n;
const SLOT_MS = 25;
const EPOCH = Date.UTC(2027, 0, 1);
const SOURCES = 3;

/** The nodes and the indexes of one side. */
export type Side = { readonly nodes: readonly SolanaNode[]; readonly indexes: readonly Esplora[] };

export type ThiefWorld = {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly ledger: Ledger;
  readonly bitcoin: Bitcoin;
  readonly custodianSide: Side;
  readonly witnessSide: Side;
  /** Whether the mint authority is the multisig. */
  readonly hasWitness: boolean;
  /** The thief's sources lie until the end; the faults of all others have ended. */
  calmDown(): void;
  /** A signature that no other key can make for this message. */
  sign(address: string, message: Uint8Array): Uint8Array;
  /** Gives a transaction to the chain. Returns whether its signatures satisfy the token program. */
  submit(wire: Uint8Array): boolean;
  supply(): bigint;
};

export function createThiefWorld(
  seed: number,
  production: Production,
  options: { readonly hasWitness: boolean; readonly onLanding: (entry: Entry) => void },
): ThiefWorld {
  const { hasWitness, onLanding } = options;
  const random = createRandom(seed ^ 0x7468_6965);
  const scheduler = createScheduler();
  const drawn = wildFaults(random.fork(), true, 'few');
  const wild = {
    ...drawn,
    latencyMs: random.pick([5, 50, 400]),
    nodes: { ...drawn.nodes, failing: random.pick([0, 0, 0.02]) },
    bitcoin: { failing: random.pick([0, 0, 0.05]), lagMs: random.pick([0, 500, 10_000, 45_000]), lying: 0 },
  };
  const state = { isCalm: false };
  const faults = () => (state.isCalm ? calm : wild);
  const ledger = createLedger({
    scheduler,
    random: random.fork(),
    slotMs: SLOT_MS,
    fates: () => faults().sends,
    onLanding,
    onDropped: () => undefined,
    onFinal: () => undefined,
    onUncovered: () => undefined,
  });
  const authority = hasWitness ? TERMS.multisig.address : CUSTODIAN;
  ledger.mints.set(TERMS.mint, { program: TOKEN_PROGRAM, decimals: DECIMALS, authority });
  ledger.endow(key.exists(TERMS.mint), 1n);
  ledger.endow(key.lamports(CUSTODIAN), 10n ** 12n);
  ledger.openAccount(TERMS.owner, TERMS.mint);
  const bitcoin = createBitcoin({
    scheduler,
    random: random.fork(),
    production,
    reserveAddress: BITCOIN_ADDRESS,
    timeOf: (virtual) => EPOCH + virtual,
    startSats: START_SATS,
    liar: -1,
    faults: () => faults().bitcoin,
  });
  const network = random.fork();
  const traced =
    () =>
    async <T>(ask: () => Promise<T>): Promise<T> => {
      const { latent, latencyMs } = faults();
      if (network.chance(latent)) await scheduler.sleep(network.between(1, latencyMs));
      const value = await ask();
      if (network.chance(latent / 2)) await scheduler.sleep(network.between(1, latencyMs));
      return value;
    };
  const createSide = (): Side => {
    const thief = random.fork();
    const { nodes } = createNodes({
      ledger,
      random: random.fork(),
      production,
      specs: Array.from({ length: SOURCES }, () => ({ retention: Number.POSITIVE_INFINITY })),
      lies: () => undefined,
      faults: () => faults().nodes,
      blockTime: (slot) => Math.floor((EPOCH + ledger.timeOf(slot)) / 1_000),
      forged: [],
      onLie: () => undefined,
      onSend: () => undefined,
    }).rpcOver(traced);
    const owned = random.between(0, SOURCES - 1);
    return {
      nodes: nodes.map((node, at) => (at === owned ? thiefsNode(node, ledger, thief) : node)),
      indexes: Array.from({ length: SOURCES }, (_none, at) => {
        const index = bitcoin.indexOver(at, traced);
        return at === owned ? thiefsIndex(index, thief) : index;
      }),
    };
  };
  return {
    random,
    scheduler,
    ledger,
    bitcoin,
    hasWitness,
    custodianSide: createSide(),
    witnessSide: createSide(),
    calmDown: () => {
      state.isCalm = true;
    },
    sign: signatureBy,
    submit(wire) {
      if (!orUndefined(() => isAuthorized(wire, authority))) return false;
      ledger.submit(readWire(Buffer.from(wire).toString('base64')));
      return true;
    },
    supply: () => ledger.value(key.supply(TERMS.mint)),
  };
}

/** The lies of a node that the thief controls. Each response may have its own: too low, outdated, expired or absurd. */
function thiefsNode(node: SolanaNode, ledger: Ledger, random: Random): SolanaNode {
  const shift = (value: bigint, by: number): bigint => (value + BigInt(by) < 0n ? 0n : value + BigInt(by));
  return {
    ...node,
    async epochInfo(commitment) {
      const real = await node.epochInfo(commitment);
      const by = random.pick([0, 0, 183, 400, 1e15, -60, -300, -1e15]);
      return { slot: shift(real.slot, random.pick([0, by])), blockHeight: shift(real.blockHeight, by) };
    },
    async accounts(addresses, commitment) {
      const { slot, accounts } = await node.accounts(addresses, commitment);
      const old = ledger.tip() - random.pick([0, 33, 60, 200, 400, 1_000]);
      const shown = random.pick([0n, ledger.valueAt(key.supply(TERMS.mint), old, ledger.tip())]);
      for (const account of accounts)
        if (account && account.data.length === 82)
          new DataView(account.data.buffer, account.data.byteOffset).setBigUint64(36, shown, true);
      return { slot: shift(slot, random.pick([0, 1e15])), accounts };
    },
    async isBlockhashValid(blockhash, commitment) {
      const { slot, valid } = await node.isBlockhashValid(blockhash, commitment);
      return { slot: random.pick([slot, 0n]), valid: random.pick([valid, true, true, false]) };
    },
  };
}

/** An index that the thief controls shows too many sats, hides that income is young, or claims another tip. */
const thiefsIndex = (index: Esplora, random: Random): Esplora => ({
  ...index,
  tipHeight: async () => (await index.tipHeight()) + random.pick([0, 0, 0, 1, 2, 3, -2, -3, 1_000]),
  async balance(address) {
    const real = await index.balance(address);
    const confirmed = sats(real.confirmed * random.pick([1n, 1n, 10n]) + random.pick([0n, 0n, 1n, 50_000n]));
    return { ...real, confirmed, confirmedTxs: random.pick([0, real.confirmedTxs]) };
  },
  chainTxs: async (address, after) => (random.chance(0.5) ? [] : index.chainTxs(address, after)),
});

/** 64 bytes in place of an ed25519 signature: they depend on the key and on the message. */
export const signatureBy = (address: string, message: Uint8Array): Uint8Array =>
  signatureOf(Buffer.concat([decodeBase58(address, 32) ?? new Uint8Array(), message]));

export const isSignatureBy = (address: string, message: Uint8Array, signature: Uint8Array): boolean =>
  Buffer.compare(signatureBy(address, message), signature) === 0;

const TOKEN_INSTRUCTIONS_WITH_AUTHORITY = new Map([
  /** SetAuthority: account, authority, signers. */
  [6, 1],
  /** MintTo and MintToChecked: mint, account, authority, signers. */
  [7, 2],
  [14, 2],
]);

/**
 * Whether every signature of a transaction is valid, and the mint authority has signed each instruction that needs it. A
 * multisig signs with both of its keys.
 */
function isAuthorized(wire: Uint8Array, authority: string): boolean {
  const { messageBytes, signatures } = getTransactionDecoder().decode(wire);
  const message = new Uint8Array(messageBytes);
  const { keys, requiredSignatures, instructions } = decodeMessage(message);
  const signers = keys.slice(0, requiredSignatures);
  const given = new Map<string, Uint8Array | null>(Object.entries(signatures));
  const isSigned = signers.every((address) => {
    const signature = given.get(address);
    return signature ? isSignatureBy(address, message, new Uint8Array(signature)) : false;
  });
  return (
    isSigned &&
    instructions.every(({ program, accounts, data }) => {
      const at = program === TOKEN_PROGRAM ? TOKEN_INSTRUCTIONS_WITH_AUTHORITY.get(data[0] ?? 0) : undefined;
      if (at === undefined) return true;
      const needed = authority === CUSTODIAN ? [CUSTODIAN] : [CUSTODIAN, WITNESS];
      const named = authority === CUSTODIAN ? accounts.slice(at) : accounts.slice(at + 1);
      return (
        accounts[at] === authority && needed.every((one) => named.includes(one) && signers.includes(one))
      );
    })
  );
}
