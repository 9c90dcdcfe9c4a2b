/** Simulates the production custodian with its payments. */

import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { encodeBase58 } from '../../../src/chain/solana/address.ts';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import type { OpsAnswer, OpsCommand, RequestView } from '../../../src/custody/api.ts';
import type { PaymentRequest, RefundDue } from '../../../src/custody/payments/request-store.ts';
import { createTokenKind } from '../../../src/custody/tokens/creation-operation.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { depositSignature, wallet } from '../../kit/addresses.ts';
import { lookUpOf } from '../../kit/custodian.ts';
import {
  RESERVE,
  type SimulatedCustodian,
  SLOT_MS,
  START,
  simulateCustodian,
  TREASURY,
} from '../../kit/simulated-custodian.ts';

const SEED = 3;
const MINUTE = 60_000;
const FINAL_MS = 33 * SLOT_MS;

/** A payment to the treasury as it lands. */
export type Incoming = {
  readonly payer: string;
  readonly lamports: bigint;
  readonly references?: readonly string[];
};

export type RequestSimulation = ReturnType<typeof createRequestSimulation>;

export function createRequestSimulation() {
  const incoming: { at: number; transaction: ChainTransaction }[] = [];
  let made = 0;

  const final = () =>
    incoming.filter(({ at }) => at + FINAL_MS <= run.scheduler.now()).toSorted((a, b) => b.at - a.at);

  const received = (signature: string): ChainTransaction | null =>
    final().find(({ transaction }) => transaction.signature === signature)?.transaction ?? null;

  const run: SimulatedCustodian = simulateCustodian({
    seed: SEED,
    modules: ({ net, nodes, solana }) => ({
      payments: {
        treasuryAddress: TREASURY,
        reserveAddress: RESERVE,
        heldPayers: new Set(),
        balanceOf: (address) => net('balanceOf', async () => BigInt(address.length)),
        leastBalance: async () => 0n,
        nodes: nodes.map((node, index) => ({
          name: node.name,
          firstAvailableBlock: async () => 0n,
          signatures: (address, { limit, before }) =>
            net(`payments@${index}`, async () => {
              const list = final()
                .filter(({ transaction }) => transaction.accounts.includes(address))
                .map(({ transaction: { signature, slot, blockTime } }) => ({
                  signature,
                  slot,
                  err: null,
                  blockTime,
                }));
              const from = list.findIndex(({ signature }) => signature === before) + 1;
              return list.slice(from, from + limit);
            }),
        })),
        transaction: (signature) => net('payment', async () => received(signature)),
        randomBytes: (length) => Uint8Array.from({ length }, () => run.random.between(0, 255)),
        randomId: () => `request-${SEED}-${++made}`,
        mintAddress: (id) => encodeBase58(sha256(utf8ToBytes(id))),
        metadataUri: (mint) => `https://sluice.test/${mint}`,
      },
      tokenKind: createTokenKind({
        reserveAddress: RESERVE,
        signMint: () => new Uint8Array(64),
        rentExemption: async () => 1_000_000n,
        latestBlockhash: () => solana.latestBlockhash(),
        findMint: (address) =>
          net('findMint', async () => {
            const found = run
              .landed()
              .find(
                ({ entry, order }) =>
                  order.intent === `mint:${address}` && entry.slot <= run.chain.tip() - 32,
              );
            return found ? { owner: TOKEN_PROGRAM, supply: 1n, decimals: 9 } : null;
          }),
      }),
      lookUp: lookUpOf((signature) => net('payment', async () => received(signature))),
    }),
    // A call may report that the journal could not be verified.
    callsFail: true,
  });
  const { call, host, pass, random, rowsOf, scheduler } = run;

  const stored = <T>(table: string): T[] =>
    host.disk
      .exec(`SELECT row FROM ${table} ORDER BY rowid`, [])
      .map((row) => JSON.parse(String(row.row)) as T);
  const requests = () => stored<PaymentRequest>('requests');
  const refunds = () => stored<RefundDue>('refunds');

  const subject = (mint: string) => ({
    costLamports: '5020000',
    program: 'token',
    metaplex: false,
    name: 'Moon',
    symbol: 'MOON',
    uri: 'https://sluice.test/',
    decimals: 9,
    supply: '1',
    creator: wallet(7),
    revokeMint: true,
    revokeFreeze: false,
    revokeUpdate: false,
    ...(mint === '' ? {} : { mint }),
  });

  return {
    ...run,
    requests,
    refunds,

    /** A request, repeated until it exists, because the response may be lost. */
    async open(kind: 'token' | 'listing', baseFeeLamports = 20_000_000n): Promise<RequestView> {
      for (let tries = 0; tries < 200; tries++) {
        const mint = kind === 'listing' ? encodeBase58(sha256(utf8ToBytes(`foreign ${random.next()}`))) : '';
        const asked = { kind, subject: subject(mint), baseFeeLamports, client: `ip-${++made}` };
        const opened = await call((custody) => custody.openRequest(asked));
        if (opened?.type === 'opened') return opened.request;
        await pass(1_000);
      }
      throw new Error('no request could be opened');
    },

    /** A payment that lands now. */
    pay({ payer, lamports: amount, references = [] }: Incoming): string {
      const signature = depositSignature(SEED * 100 + incoming.length);
      const rich = 10n ** 13n;
      const transaction: ChainTransaction = {
        signature,
        slot: BigInt(run.chain.tip()),
        blockTime: Math.floor((START + scheduler.now()) / 1_000),
        failed: false,
        fee: 5_000n,
        accounts: [payer, TREASURY, ...references],
        signers: [payer],
        preLamports: [rich, rich, ...references.map(() => 0n)],
        postLamports: [rich - amount - 5_000n, rich + amount, ...references.map(() => 0n)],
        preTokens: [],
        postTokens: [],
      };
      incoming.push({ at: scheduler.now(), transaction });
      return signature;
    },

    /** D1's rows of a table. */
    mirrored: (table: string) => rowsOf(`SELECT * FROM ${table} ORDER BY id`),
    /** The rows of a table that D1 lacks. */
    forget: (where: string) => rowsOf(`DELETE FROM ${where}`),
    refund: (id: string): Promise<OpsAnswer | undefined> =>
      call((custody) => custody.ops({ name: 'refund', id })),
    /**
     * Repeated until it succeeds: right after the loss it is refused as too early, and a response may be
     * lost. Then signing is resumed.
     */
    async reconcile(): Promise<OpsAnswer | undefined> {
      let answer: OpsAnswer | undefined;
      for (let tries = 0; tries < 50 && !answer?.ok; tries++) {
        if (tries > 0) await pass(MINUTE);
        answer = await call((custody) => custody.ops({ name: 'reconcile' }));
      }
      while (!(await call((custody) => custody.ops({ name: 'resume' })))?.ok) await pass(MINUTE);
      return answer;
    },
    ops: (name: OpsCommand['name'], id?: string): Promise<OpsAnswer | undefined> =>
      call((custody) => custody.ops(id === undefined ? { name } : { name, id })),
  };
}
