/** Tables of the contract that list the fields of one response. */
import { expect } from 'vitest';
import { responseTable } from '../table.ts';

const SUMMARY = 'GET /api/arbitrage/summary';
const PROOF = 'GET /api/proof';
const CREATE = 'POST /api/swap/create';
const isHex = (value: unknown): void => expect(value).toMatch(/^[0-9a-f]{64}$/);

export const reserveReport = responseTable(
  'Reserve report (GET /api/reserves response)',
  'GET /api/reserves',
  `
      bitcoin.address: string | null, bitcoin.balanceBtc: number | null, bitcoin.balanceSat: integer | null,
      solana.address: string | null, solana.balanceSol: number | null
    `,
);

export const ownershipProof = responseTable(
  'Ownership proof (GET /api/proof response)',
  PROOF,
  `
      message: string, timestamp: string, bitcoin.address: string, bitcoin.signature: string,
      solana.address: string, solana.signature: string
    `,
  {
    message: (message, contract) => expect(message).toContain(String(contract.answer(PROOF).timestamp)),
    timestamp: (timestamp) => expect(new Date(String(timestamp)).toISOString()).toBe(timestamp),
    'bitcoin.address': (address, { world }) => expect(address).toBe(world.reserve.bitcoin),
    'solana.address': (address, { world }) => expect(address).toBe(world.reserve.solana),
  },
);

export const absrSummary = responseTable(
  'ABSR summary (GET /api/arbitrage/summary response)',
  SUMMARY,
  `
      btcPriceUsd: number, solPriceUsd: number, absrSupplySats: integer, absrSupplyUsd: number,
      absrTokenSupply: number
    `,
  {
    btcPriceUsd: (usd) => expect(usd).toBe(80_000),
    solPriceUsd: (usd) => expect(usd).toBe(100),
    absrSupplySats: (sats) => expect(sats).toBeGreaterThanOrEqual(1_000_000),
    absrSupplyUsd(usd, contract) {
      const { absrSupplySats, btcPriceUsd } = contract.answer(SUMMARY);
      expect(usd).toBeCloseTo((Number(absrSupplySats) * Number(btcPriceUsd)) / 1e8, 1);
    },
  },
);

export const swapMinimum = responseTable(
  'Swap minimum (GET /api/swap/min response)',
  'GET /api/swap/min',
  'minAmountSol: number, balanceSol: number | null',
  { minAmountSol: (sol) => expect(sol).toBeGreaterThanOrEqual(0.001) },
);

export const swapEstimate = responseTable(
  'Swap estimate (GET /api/swap/estimate response)',
  'GET /api/swap/estimate',
  'amountSol: number, estimatedBtcSats: integer',
);

export const swapCreated = responseTable(
  'Swap (create response)',
  CREATE,
  `
      initiated: boolean, id: string, amountSol: number, expectedBtcSats: integer, solanaSignature: string,
      status: string, statusUrl: string, message: string
    `,
  {
    initiated: (initiated) => expect(initiated).toBe(true),
    id: (id, { world }) => expect(world.solana.ledger.transaction(String(id))?.err).toBeNull(),
    amountSol: (sol, contract) => expect(sol).toBe(contract.sent(CREATE).amountSol),
    solanaSignature: (signature, contract) => expect(signature).toBe(contract.answer(CREATE).id),
    status: (status) => expect(status).toBe('waiting'),
    statusUrl: (url, { world, answer }) =>
      expect(url).toBe(`${world.url}/api/swap/status/${answer(CREATE).id}`),
  },
);

export const swapStatus = responseTable(
  'Swap status (GET /api/swap/status/{id} response)',
  'GET /api/swap/status/{id}',
  `
      id: string, status: string, amountSol: number | null, btcSats: integer | null
    `,
  {
    id: (id, contract) => expect(id).toBe(contract.answer(CREATE).id),
    status: (status) => expect(['waiting', 'finished', 'failed']).toContain(status),
  },
);

export const asryClaimResponse = responseTable(
  'ASRY claim (2)',
  'POST /api/asry/claim-from-deposit',
  `
      asset: string, senderPubkey: string | null, feeBps: number, feeAtomic: string, receive: object,
      reward: object
    `,
  {
    asset: (asset) => expect(['USDC', 'USDT']).toContain(asset),
    senderPubkey: (sender, { world }) => expect(sender).toBe(world.users[0]?.address),
    feeBps: (bps) => expect(bps).toBe(5),
    feeAtomic: (atoms) => expect(atoms).toMatch(/^\d+$/),
  },
);

export const nostrPost = responseTable(
  'Nostr post (entry of posts[])',
  'GET /api/nostr/feed',
  `
      id: string, pubkey: string, created_at: integer, content: string, kind: integer
    `,
  {
    id: isHex,
    pubkey: isHex,
    created_at: (seconds) => expect(Number(seconds)).toBeLessThan(Date.now() / 1_000 + 3_600),
    kind: (kind) => expect(kind).toBe(1111),
  },
  'posts[]',
);
