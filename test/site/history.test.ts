import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { ChainVerdict } from '../../site/parts/proof-archive.tsx';
import { type ArchivedProof, checkChain, proofFault } from '../../site/verify/history.ts';
import { buildProofMessage, parseProofMessage, proofHash } from '../../src/chain/bitcoin/proof-message.ts';
import { lamports, sats } from '../../src/core/amount.ts';
import { bitcoinAddress, signProof, solanaAddress } from '../chain/bitcoin/signed-proof.ts';

const MINT = base58.encode(new Uint8Array(32).fill(9));
const START = Date.UTC(2026, 10, 20, 12);

function signed(message: string): ArchivedProof {
  const { bitcoin, solana } = signProof(message);
  const proof = parseProofMessage(message);
  return {
    timestamp: proof.time,
    hash: proofHash(message, { bitcoin: bitcoin.signature, solana: solana.signature }),
    figures: {
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
    },
    message,
    bitcoin,
    solana,
  };
}

/** Proofs of successive hours, newest first. */
function archive(count: number): ArchivedProof[] {
  const proofs: ArchivedProof[] = [];
  for (let hour = 0; hour < count; hour++)
    proofs.unshift(
      signed(
        buildProofMessage({
          service: 'reserve.example',
          bitcoinAddress,
          solanaAddress,
          reserveSats: sats(BigInt(1_000 + hour)),
          solanaLamports: lamports(5n),
          absr: { mint: MINT, atoms: 900n, decimals: 0 },
          bitcoinTip: { height: 800 + hour, hash: '1'.repeat(64) },
          solanaTip: { slot: 7n, blockhash: MINT },
          time: new Date(START + hour * 3_600_000).toISOString(),
          previousProof: proofs[0]?.hash ?? null,
        }),
      ),
    );
  return proofs;
}

async function* each(proofs: readonly ArchivedProof[]): AsyncGenerator<ArchivedProof> {
  yield* proofs;
}
const check = (proofs: readonly ArchivedProof[], report: (count: number) => void = () => undefined) =>
  checkChain(each(proofs), report);

const PROOFS = archive(4);
const [newest, second, third, first] = PROOFS as [ArchivedProof, ArchivedProof, ArchivedProof, ArchivedProof];

describe('the chain of all proofs', () => {
  it('the chain of all proofs is linked back to the first proof', async () => {
    expect(await check(PROOFS)).toEqual({ type: 'linked', count: 4, first: first.timestamp });
    expect(await check([first])).toEqual({ type: 'linked', count: 1, first: first.timestamp });
    expect(await check([])).toEqual({ type: 'empty' });
  });

  it('reports a broken chain if a proof was omitted or inserted, or the first proofs are missing', async () => {
    const unlinked = 'it does not contain the hash of the previous proof';
    expect(await check([newest, third, first])).toEqual({
      type: 'broken',
      at: newest.timestamp,
      why: unlinked,
    });
    expect(await check([newest, second, second, third, first])).toMatchObject({ at: second.timestamp });
    expect(await check([newest, second])).toMatchObject({ why: 'the proofs before it are missing' });
  });

  it('reports a broken chain if one byte of any member of a proof was altered', async () => {
    const figures = { ...second.figures, reserveSatoshis: '9' };
    const altered: Partial<ArchivedProof>[] = [
      { figures },
      { figures: { ...second.figures, absrSupplyAtoms: '901' } },
      { timestamp: first.timestamp },
      { hash: second.hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
      { message: second.message.replace('Solana lamports: 5', 'Solana lamports: 6') },
      { message: `${second.message}\n` },
      { bitcoin: { ...second.bitcoin, signature: third.bitcoin.signature } },
      { solana: { ...second.solana, signature: third.solana.signature } },
    ];
    for (const change of altered) {
      const result = await check([newest, { ...second, ...change }, third, first]);
      expect([change, result.type]).toEqual([change, 'broken']);
    }
  });

  it('reports the number of checked proofs while it checks the chain', async () => {
    const counts: number[] = [];
    const many = Array.from({ length: 250 }, () => first);
    await checkChain(each(archive(100).concat(many)), (count) => counts.push(count));
    expect(counts).toEqual([100]);
  });
});

describe('one proof of the archive', () => {
  it('accepts an unchanged archived proof', async () => {
    for (const proof of PROOFS) expect(await proofFault(proof)).toBeNull();
  });

  it('refuses a proof signed with another key, even if its hash was recomputed from the new signature', async () => {
    const other = ed25519.sign(new TextEncoder().encode(second.message), new Uint8Array(32).fill(1));
    const solana = { ...second.solana, signature: base58.encode(other) };
    const hash = proofHash(second.message, { bitcoin: second.bitcoin.signature, solana: solana.signature });
    expect(await proofFault({ ...second, solana, hash })).toContain('the signature is not by');
  });
});

it('summarizes the check of the chain in a sentence', () => {
  const linked = String(ChainVerdict({ result: { type: 'linked', count: 1204, first: first.timestamp } }));
  expect(linked).toContain('All 1,204 proofs form one chain.');
  const broken = String(
    ChainVerdict({
      result: { type: 'broken', at: first.timestamp, why: 'the proofs before it are missing' },
    }),
  );
  expect(broken).toContain('broken at the proof of 2026-11-20 12:00 UTC.');
  expect(broken).toContain('Do not rely on this site&#39;s figures.');
});
