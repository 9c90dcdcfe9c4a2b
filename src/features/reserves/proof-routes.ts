import { createRoute, z } from '@hono/zod-openapi';
import { type ProofMessage, readProofMessage } from '../../chain/bitcoin/proof-message.ts';
import type { ProofRecord } from '../../custody/api.ts';
import type { Cached } from '../../http/cached.ts';
import { decodeCursor, pageOf, pageParams } from '../../http/paging.ts';
import { limitReads } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse, nextCursor } from '../../http/responses.ts';
import { component, newRouter } from '../../http/router.ts';
import { type GetProofDeps, getProof } from './get-proof.ts';

const Figures = component('ProofFigures', {
  service: z.string(),
  reserveSatoshis: z.string(),
  solanaLamports: z.string(),
  absrMint: z.string().nullable(),
  absrSupplyAtoms: z.string().nullable(),
  absrDecimals: z.int().nullable(),
  bitcoinTipHeight: z.int(),
  bitcoinTipHash: z.string(),
  solanaSlot: z.string(),
  solanaBlockhash: z.string(),
  previousProof: z.string().nullable(),
}).describe('The figures in the message, parsed from it');

const Signed = z.object({ address: z.string(), signature: z.string() });

const Proof = component('Proof', {
  message: z.string().describe('The exact text signed by both keys'),
  timestamp: z.iso.datetime().describe('The time in the message'),
  hash: z.string().describe('The next proof names it as its predecessor'),
  bitcoin: z.object({
    address: z.string(),
    signature: z.string(),
    scheme: z.string().openapi({ example: 'bip322-simple' }),
    signatureUnprefixed: z
      .string()
      .nullable()
      .describe('The same signature without the prefix that BIP-322 has required since 2026'),
    offline: z.boolean().describe('Whether it was signed outside the service'),
  }),
  solana: z.object({
    address: z.string(),
    signature: z.string(),
    scheme: z.string().openapi({ example: 'ed25519-utf8' }),
  }),
  figures: Figures,
  exclusions: z.array(z.string()).describe('Amounts that are not counted'),
});

/** Amounts that the figures exclude. */
const EXCLUSIONS = [
  'Unconfirmed Bitcoin transactions are not counted.',
  'SOL and tokens at the Solana address do not back ABSR.',
];

const proofRoute = createRoute({
  method: 'get',
  path: '/proof',
  operationId: 'getProof',
  tags: ['reserves'],
  summary: 'Newest reserve proof',
  description:
    'The newest proof, signed with both reserve keys: hourly and after each mint, or offline by the operator. The signatures show that somebody had the keys then, not later.',
  responses: {
    200: jsonResponse(
      Proof.extend({ as_of: z.iso.datetime(), stale: z.boolean() }).openapi('CurrentProof'),
      'Both signatures over one message',
    ),
    ...errorResponses(
      ['UPSTREAM_FAILED', 'NOT_CONFIGURED', 'CUSTODIAN_UNAVAILABLE', 'DATABASE_UNAVAILABLE'],
      { UPSTREAM_FAILED: 503 },
    ),
  },
});

const historyRoute = createRoute({
  method: 'get',
  path: '/proof/history',
  operationId: 'listProofs',
  tags: ['reserves'],
  summary: 'List reserve proofs',
  description: 'Every signed proof, newest first, with the data to check it.',
  middleware: [limitReads] as const,
  request: {
    query: z.object({
      ...pageParams(50),
      before: z.iso.datetime().optional().describe('Starts at the newest proof from before this time'),
      every: z.enum(['hour', 'day']).optional().describe('With `day`, only the last proof of each UTC date'),
    }),
  },
  responses: {
    200: jsonResponse(
      component('ProofHistory', {
        proofs: z.array(
          z.object({
            timestamp: z.string(),
            hash: z.string().describe('SHA-256 of the message and both signatures'),
            figures: Figures,
            message: z.string().describe('The exact text signed by both keys'),
            bitcoin: Signed,
            solana: Signed,
          }),
        ),
        next_cursor: nextCursor,
      }),
      'One page of the archive',
    ),
    ...errorResponses(['INVALID_INPUT', 'RATE_LIMITED', 'DATABASE_UNAVAILABLE']),
  },
});

const HISTORY = 'proofs';
const HistoryKey = z.tuple([z.iso.datetime()]);

export const proofRoutes = newRouter<{ readonly reserves: GetProofDeps }>()
  .openapi(proofRoute, async (c) => {
    return c.json(shownProof(await getProof(c.var.deps.reserves)), 200);
  })
  .openapi(historyRoute, async (c) => {
    const { before, limit, cursor, every } = c.req.valid('query');
    const place = { before, after: decodeCursor(HISTORY, HistoryKey, cursor)?.[0] };
    const { proofs: archive } = c.var.deps.reserves;
    const read = await (every === 'day' ? archive.listDaily : archive.list)(limit + 1, place);
    const { rows, next } = pageOf(HISTORY, read, limit, ({ timestamp }) => [timestamp]);
    const proofs = rows.map(({ message, timestamp, hash, bitcoin, solana }) => {
      const proof = readProofMessage(message);
      return {
        timestamp,
        hash,
        figures: figuresOf(proof),
        message,
        bitcoin: { address: proof.bitcoinAddress, signature: bitcoin.signature },
        solana: { address: proof.solanaAddress, signature: solana.signature },
      };
    });
    return c.json({ proofs, next_cursor: next }, 200);
  });

/** A proof is as old as its figures, not as the cached copy. */
export const shownProof = ({ value, stale }: Cached<ProofRecord>) => ({
  ...shown(value),
  as_of: value.timestamp,
  stale,
});

function shown({ message, timestamp, hash, bitcoin, solana, offline }: ProofRecord) {
  const proof = readProofMessage(message);
  return {
    message,
    timestamp,
    hash,
    bitcoin: {
      address: proof.bitcoinAddress,
      signature: bitcoin.signature,
      scheme: bitcoin.scheme,
      signatureUnprefixed: bitcoin.unprefixed,
      offline,
    },
    solana: { address: proof.solanaAddress, signature: solana.signature, scheme: solana.scheme },
    figures: figuresOf(proof),
    exclusions: EXCLUSIONS,
  };
}

function figuresOf(proof: ProofMessage) {
  return {
    service: proof.service,
    reserveSatoshis: proof.reserveSats.toString(),
    solanaLamports: proof.solanaLamports.toString(),
    absrMint: proof.absr?.mint ?? null,
    absrSupplyAtoms: proof.absr?.atoms.toString() ?? null,
    absrDecimals: proof.absr?.decimals ?? null,
    bitcoinTipHeight: proof.bitcoinTip.height,
    bitcoinTipHash: proof.bitcoinTip.hash,
    solanaSlot: proof.solanaTip.slot.toString(),
    solanaBlockhash: proof.solanaTip.blockhash,
    previousProof: proof.previousProof,
  };
}
