/** The custodian with its daily mint and its proofs, over the Bitcoin model and a Solana chain that runs only mints. */

import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { Signer } from '../../../src/custody/kernel/ports.ts';
import { createProofSigner, createSigner } from '../../../src/custody/kernel/signer.ts';
import type { WitnessPorts } from '../../../src/custody/reserve/daily-mint.ts';
import { wallet } from '../../kit/addresses.ts';
import { assembleTransaction, createCustodianWorld } from '../../kit/custodian.ts';
import { BLOCKHASH, MARKET } from '../../kit/fake-bridge.ts';
import { FEE, view } from '../../kit/sample-operations.ts';
import { readWire } from '../../simulator/transactions.ts';
import { createBitcoinModel, RESERVE_BTC } from './bitcoin-model.ts';

export const SERVICE = 'reserve.example';
export const SOL = 1_000_000_000n;
const TREASURY = base58.encode(new Uint8Array(32).fill(11));
export const MINT = base58.encode(new Uint8Array(32).fill(12));
const DECIMALS = 2;
const SEED = new Uint8Array(32).fill(5);
const SLOT_MS = 400;
/** Slots from a send to the landing, and from there to finality. */
const LANDS_AFTER = 2n;
const FINALITY = 32n;

export const reserveSigner = (): Signer =>
  createSigner(base58.encode(new Uint8Array([...SEED, ...ed25519.getPublicKey(SEED)])));

export function createReserveService(p: {
  readonly at: number;
  readonly lamports?: bigint;
  /** Whether mints are made. */
  readonly mints: boolean;
  /** If given, the mint authority is its multisig. */
  readonly witness?: WitnessPorts;
  /** If given, proofs are signed: with this Bitcoin key, or without one for a watch-only address. */
  readonly proof?: { readonly wif: string | undefined };
}) {
  const bitcoin = createBitcoinModel();
  const { indexes, views: reserveViews } = bitcoin;
  const signer = reserveSigner();
  const solana = { isDown: false, lamports: p.lamports ?? 10n * SOL, lagOfSecondNode: 0n };
  const landed: { readonly signature: string; readonly slot: bigint; readonly atoms: bigint }[] = [];
  const memos: (string | null)[] = [];
  const wires: string[] = [];
  const slotNow = (): bigint => 1_000n + BigInt(Math.floor((w.clock.now - p.at) / SLOT_MS));
  const final = (): bigint => slotNow() - FINALITY;
  const supplyAt = (slot: bigint): bigint =>
    landed.reduce((sum, mint) => (mint.slot <= slot ? sum + mint.atoms : sum), 0n);

  const w = createCustodianWorld({
    signer,
    assemble: assembleTransaction,
    ...(p.mints && {
      absr: {
        mint: MINT,
        treasury: TREASURY,
        nodes: 2,
        indexes: indexes.length,
        reserveViews,
        supplyViews: async () =>
          [0n, solana.lagOfSecondNode].map((lag, index) => ({
            source: `rpc-${index + 1}`,
            slot: final() - lag,
            program: TOKEN_PROGRAM,
            mintAuthority: p.witness?.multisig ?? signer.address,
            atoms: supplyAt(final() - lag),
            decimals: DECIMALS,
          })),
        latestBlockhash: async () => ({
          blockhash: wallet(Number(slotNow())),
          slot: slotNow(),
          witnesses: [{ node: 'one', slot: slotNow(), height: slotNow() }],
        }),
        readPrices: async () => [MARKET, { ...MARKET, source: 'two' }],
        ...(p.witness && { witness: p.witness }),
      },
    }),
    ...(p.proof && {
      proof: {
        service: SERVICE,
        bitcoinAddress: RESERVE_BTC,
        signer: createProofSigner({ solana: signer, bitcoinAddress: RESERVE_BTC, wif: p.proof.wif }),
        indexes: indexes.length,
        reserveViews,
        async solanaFigures() {
          if (solana.isDown) throw upstreamFailed('solana-rpc', 'quorum_missing');
          return {
            solanaLamports: lamports(solana.lamports),
            absr: { mint: MINT, atoms: supplyAt(final()), decimals: DECIMALS },
            solanaTip: { slot: final(), blockhash: BLOCKHASH },
          };
        },
      },
    }),
  });
  w.clock.now = p.at;
  w.chain.nextBalance = async () => ({ lamports: lamports(solana.lamports), slot: final() });
  w.chain.send = async (wire) => {
    const { signature, actions, memo } = readWire(wire);
    if (landed.some((mint) => mint.signature === signature)) return true;
    for (const action of actions)
      if (action.type === 'mint')
        landed.push({ signature, slot: slotNow() + LANDS_AFTER, atoms: action.atoms });
    memos.push(memo);
    wires.push(wire);
    return true;
  };
  w.chain.views = async ({ signature }) => {
    const { slot } = landed.find((mint) => mint.signature === signature) ?? {};
    const commitment = slot !== undefined && slot <= final() ? 'finalized' : 'confirmed';
    const status =
      slot !== undefined && slot <= slotNow()
        ? ({ slot, failed: false, commitment, charged: null } as const)
        : null;
    const finalized = { finalizedSlot: final(), finalizedHeight: final(), firstAvailableSlot: 0n };
    return [view({ ...finalized, statusSlot: slotNow(), status })];
  };
  w.chain.landing = async (signature) => {
    const { slot = 0n } = landed.find((mint) => mint.signature === signature) ?? {};
    const blockTime = Math.floor((p.at + Number(slot - 1_000n) * SLOT_MS) / 1_000);
    return { slot, blockTime, fee: lamports(FEE), debit: lamports(FEE) };
  };
  return {
    ...w,
    bitcoin,
    indexes,
    signer,
    solana,
    /** Atoms and memos of the mints that were sent. */
    mints: () => landed.map(({ atoms }) => atoms),
    memos,
    wires,
  };
}
