/** One client at its full rate of free calls, while the nodes of the reserve answer 50 requests a second each. */

import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, it } from 'vitest';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import type { CustodianApi } from '../../src/custody/api.ts';
import { SignatureLookups } from '../../src/custody/kernel/signature-lookups.ts';
import { createTokenKind } from '../../src/custody/tokens/creation-operation.ts';
import { claimFromDeposit } from '../../src/features/asry/claims.ts';
import { confirmPayment } from '../../src/features/tokens/paid-request.ts';
import { depositSignature, wallet } from '../kit/addresses.ts';
import { ASRY, RESERVE, START, simulateCustodian, TREASURY, terms } from '../kit/simulated-custodian.ts';
import { key } from '../simulator/ledger.ts';
import { PROGRAM } from './asry/claim-simulation.ts';

const SECOND = 1_000;
const NODE_RATE = 50;
const MALLORY = '203.0.113.7';
const clientOf = (n: number): string => `198.51.${n}.1`;

const SUBJECT = {
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
};

function setUp(nodeRate?: number) {
  let made = 0;
  const run = simulateCustodian({
    seed: 1,
    ...(nodeRate === undefined ? {} : { nodeRate }),
    modules: ({ nodes, solana, now }) => {
      const lookups = new SignatureLookups({
        chain: solana,
        isPayment: () => false,
        now,
        sleep: (ms) => run.scheduler.sleep(ms),
      });
      return {
        lookUp: (lookup) => lookups.find(lookup),
        payments: {
          treasuryAddress: TREASURY,
          reserveAddress: RESERVE,
          heldPayers: new Set(),
          balanceOf: (address) => solana.balanceOf(address),
          leastBalance: async () => 0n,
          nodes: nodes.map((node) => ({
            name: node.name,
            firstAvailableBlock: () => node.firstAvailableBlock(),
            signatures: (address, page) => node.signaturesFor(address, { ...page, commitment: 'finalized' }),
          })),
          transaction: (signature) => solana.transaction(signature),
          randomBytes: (length) => Uint8Array.from({ length }, () => run.random.between(0, 255)),
          randomId: () => `request-${++made}`,
          mintAddress: (id) => encodeBase58(sha256(utf8ToBytes(id))),
          metadataUri: (mint) => `https://sluice.test/${mint}`,
        },
        tokenKind: createTokenKind({
          reserveAddress: RESERVE,
          signMint: () => new Uint8Array(64),
          rentExemption: async (bytes) =>
            (await solana.agreed('rent', (node) => node.rentExemption(bytes)))[0],
          latestBlockhash: () => solana.latestBlockhash(),
          findMint: async (address) =>
            run.landed().some(({ order }) => order.intent === `mint:${address}`)
              ? { owner: TOKEN_PROGRAM, supply: 1n, decimals: 9 }
              : null,
        }),
        asry: {
          reserveAddress: RESERVE,
          mint: ASRY,
          terms,
          program: PROGRAM,
          readMint: async () => ({ program: TOKEN_PROGRAM, decimals: 9 }),
          readAccounts: async () => [],
          latestBlockhash: () => solana.latestBlockhash(),
        },
      };
    },
  });

  /** The API's view of the custodian. */
  const verb =
    <R, T>(ask: (custody: CustodianApi, request: R) => Promise<T>) =>
    async (request: R): Promise<T> => {
      const outcome = await run.host.event('call', (custody) => ask(custody, request));
      if (!outcome.ok) throw new Error(String(outcome.error));
      return outcome.value;
    };
  const api = {
    now: () => START + run.scheduler.now(),
    sleep: (ms: number) => run.scheduler.sleep(ms),
    custody: {
      confirmPayment: verb((custody, request: Parameters<CustodianApi['confirmPayment']>[0]) =>
        custody.confirmPayment(request),
      ),
      claimDeposit: verb((custody, request: Parameters<CustodianApi['claimDeposit']>[0]) =>
        custody.claimDeposit(request),
      ),
    },
  };
  const open = verb((custody, client: string) =>
    custody.openRequest({ kind: 'token', subject: SUBJECT, baseFeeLamports: 20_000_000n, client }),
  );

  /** An invoice, its payment on the chain, and its confirm; true once the token exists. */
  async function buy(n: number): Promise<boolean> {
    const opened = await open(clientOf(n));
    if (opened.type === 'refused') return false;
    const { id, reference, feeLamports } = opened.request;
    const signature = depositSignature(70_000 + n);
    const from = wallet(70_000 + n);
    run.chain.endow(key.lamports(from), BigInt(feeLamports) + 5_000n);
    run.chain.add({
      signature,
      accounts: [from, TREASURY, reference],
      signers: 1,
      fee: 5_000n,
      actions: [{ type: 'pay', from, to: TREASURY, lamports: BigInt(feeLamports) }],
      memo: null,
      born: null,
      readable: true,
    });
    const asked = { id, kind: 'token', signature, client: clientOf(n), waitMs: 55 * SECOND } as const;
    return (await confirmPayment(api, asked)).status === 'completed';
  }

  const swap = verb((custody, n: number) =>
    custody.createSwap({ amountLamports: 100_000_000n, client: clientOf(n) }),
  );

  /** Everything that `work` begins, for at most two minutes. */
  async function finish<T>(work: readonly Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
    let ended: PromiseSettledResult<T>[] | undefined;
    void Promise.allSettled(work).then((results) => {
      ended = results;
    });
    await run.scheduler.run(run.scheduler.now() + 120 * SECOND, () => ended !== undefined);
    if (!ended) throw new Error('some work never ended');
    return ended;
  }

  let invented = 0;
  const confirmInvented = (id: string) =>
    confirmPayment(api, {
      id,
      kind: 'token',
      signature: depositSignature(1_000_000 + ++invented),
      client: MALLORY,
      waitMs: 55 * SECOND,
    });
  const claimInvented = () =>
    claimFromDeposit(api, {
      signature: depositSignature(2_000_000 + ++invented),
      asset: 'USDC',
      skipReward: false,
      client: MALLORY,
    });
  return { ...run, open, buy, swap, finish, confirmInvented, claimInvented };
}

it('with an invented signature, a confirm makes five calls to each node and a claim makes three', async () => {
  const w = setUp();
  const [opened] = await w.finish([w.open(MALLORY)]);
  if (opened?.status !== 'fulfilled' || opened.value.type === 'refused') throw new Error('not opened');
  await w.pass(5 * SECOND);
  w.nodeCalls.count = 0;
  await w.finish([w.confirmInvented(opened.value.request.id)]);
  const ofConfirm = w.nodeCalls.count;
  w.nodeCalls.count = 0;
  await w.finish([w.claimInvented()]);
  // Two nodes, and five polls within 15 seconds, three within 5.
  expect([ofConfirm, w.nodeCalls.count]).toEqual([10, 6]);
});

it('ten swaps and ten sales complete while another client floods confirms, claims and invoices', async () => {
  const w = setUp(NODE_RATE);
  const [opened] = await w.finish([w.open(MALLORY)]);
  if (opened?.status !== 'fulfilled' || opened.value.type === 'refused') throw new Error('not opened');
  const { id } = opened.value.request;
  const flood: Promise<unknown>[] = [];
  for (let ms = 0; ms < 60 * SECOND; ms += 100)
    w.scheduler.after(ms, () => {
      flood.push(
        w.confirmInvented(id).catch(() => undefined),
        w.claimInvented().catch(() => undefined),
        w.open(MALLORY).catch(() => undefined),
      );
    });
  await w.pass(5 * SECOND);
  const people = Array.from({ length: 10 }, (_, n) => n);
  const sold = people.map((n) => w.buy(n));
  const swapped = people.map(async (n) => (await w.swap(n)).type === 'created');
  const results = await w.finish([...sold, ...swapped]);
  expect(results).toEqual(results.map(() => ({ status: 'fulfilled', value: true })));
  expect(w.errors).toEqual([]);
  w.release();
});
