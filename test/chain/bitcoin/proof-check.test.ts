import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { checkProof } from '../../../src/chain/bitcoin/proof-check.ts';
import type { CheckLine, ProofEvidence } from '../../../src/chain/bitcoin/proof-lines.ts';
import { buildProofMessage } from '../../../src/chain/bitcoin/proof-message.ts';
import { deriveAddress } from '../../../src/chain/bitcoin/wif.ts';
import { grouped, lamports, sats } from '../../../src/core/amount.ts';
import { bitcoinAddress, secretKey, signProof, solanaAddress } from './signed-proof.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const HASH = '1'.repeat(64);
const MINT = base58.encode(new Uint8Array(32).fill(9));

const MESSAGE = buildProofMessage({
  service: 'reserve.example',
  bitcoinAddress,
  solanaAddress,
  reserveSats: sats(1_000n),
  solanaLamports: lamports(5n),
  absr: { mint: MINT, atoms: 100_000n, decimals: 2 },
  bitcoinTip: { height: 800, hash: HASH },
  solanaTip: { slot: 7n, blockhash: MINT },
  time: new Date(NOW - 1_800_000).toISOString(),
  previousProof: null,
});
const explorer = (name: string, change = {}) => ({
  name,
  figures: { satsAtProof: 1_000n, satsNow: 1_200n, blockHash: HASH, ...change },
});
/** The supply now, after this change since the proof. */
const supply = (atoms: bigint, changed: bigint | null = null, slot = 7n) => ({
  atoms,
  decimals: 2,
  slot,
  changed,
});
const WITNESS = base58.encode(new Uint8Array(32).fill(8));
const PAIR = { authority: MINT, required: 2, signers: [solanaAddress, WITNESS] };
const evidence = (change: Partial<ProofEvidence> = {}): ProofEvidence => ({
  ...{ proof: signProof(MESSAGE), host: 'reserve.example', explorers: [explorer('a'), explorer('b')] },
  ...{ supply: supply(100_000n), mintKeys: PAIR, now: NOW },
  ...change,
});
const linesWith = (wanted: CheckLine['result'], change: Partial<ProofEvidence>): string[] =>
  checkProof(evidence(change)).flatMap(({ name, result }) => (result === wanted ? [name] : []));
/** Names of contradicted lines. No line is unchecked, because every source was reached. */
function red(change: Partial<ProofEvidence>): string[] {
  expect(linesWith('unchecked', change)).toEqual([]);
  return linesWith('contradicted', change);
}

it('confirms all six lines of a true proof, with the figures of both chains', () => {
  const lines = checkProof(evidence());
  const names = ['bitcoin_signature', 'solana_signature', 'reserve', 'supply', 'minting', 'freshness'];
  expect(lines.map(({ name, result }) => [name, result])).toEqual(names.map((name) => [name, 'confirmed']));
  expect(lines[2]?.text).toBe('1,000 sats at block 800, according to a and b');
  expect(lines[3]?.text).toBe('1,200 sats for 1,000 ABSR.');
});

describe('unreachable sources leave a line unchecked, never red:', () => {
  const unchecked = (change: Partial<ProofEvidence>): string[] => {
    expect(linesWith('contradicted', change)).toEqual([]);
    return linesWith('unchecked', change);
  };

  it('leaves a line unchecked, never red, if one of two explorers is down or only one is read', () => {
    const explorers = [explorer('a'), { name: 'b', figures: null }];
    expect(unchecked({ explorers })).toEqual(['reserve', 'freshness']);
    expect(checkProof(evidence({ explorers }))[2]?.text).toContain('b could not be reached');
    expect(unchecked({ explorers: [explorer('a')] })).toEqual(['reserve']);
  });

  it('leaves the supply line unchecked, never red, if no node responds, one is behind, or a change has no memo', () => {
    expect(unchecked({ supply: null })).toEqual(['supply']);
    expect(unchecked({ supply: supply(100_000n, 0n, 6n) })).toEqual(['supply']);
    expect(unchecked({ supply: supply(100_010n) })).toEqual(['supply']);
  });

  it('leaves every line unchecked, never red, if no source can be reached', () => {
    const explorers = ['a', 'b'].map((name) => ({ name, figures: null }));
    expect(unchecked({ explorers, supply: null })).toEqual(['reserve', 'supply', 'freshness']);
    expect(unchecked({ explorers })).toEqual(['reserve', 'supply', 'freshness']);
  });

  it('a line is red if one explorer contradicts the proof while the other is down', () => {
    const explorers = [explorer('a', { satsAtProof: 999n, blockHash: null }), { name: 'b', figures: null }];
    expect(linesWith('contradicted', { explorers })).toEqual(['reserve', 'freshness']);
  });
});

const proof = signProof(MESSAGE);
const { bitcoin, solana } = proof;
const SIGNED = NOW - 1_800_000;
const bySolana = (change: Partial<typeof solana>) => {
  return { proof: { ...proof, solana: { ...solana, ...change } } };
};
/** The group order is added to S, which a lax verifier takes for the same signature. */
function raisedS(signature: string): string {
  const L = 2n ** 252n + 27742317777372353535851937790883648493n;
  const bytes = base58.decode(signature);
  let s = 0n;
  for (let at = 63; at >= 32; at--) s = (s << 8n) | BigInt(bytes[at] ?? 0);
  s += L;
  for (let at = 32; at < 64; at++, s >>= 8n) bytes[at] = Number(s & 255n);
  return base58.encode(bytes);
}
const edited = { ...proof, message: MESSAGE.replace('Reserve sats: 1000', 'Reserve sats: 1001') };
const agreeing = ['a', 'b'].map((name) => explorer(name, { satsAtProof: 1_001n }));
const swapped = {
  ...proof,
  bitcoin: { ...bitcoin, signature: solana.signature },
  solana: { ...solana, signature: bitcoin.signature },
};
const ofTaproot = { ...proof, bitcoin: { ...bitcoin, address: deriveAddress(secretKey, 'p2tr') } };
/** Not a point of the curve, so no key exists for it. */
const nowhere = base58.encode(new Uint8Array(32).fill(2));
const forged = {
  ...signProof(MESSAGE.replace(solanaAddress, nowhere)),
  solana: { address: nowhere, signature: solana.signature },
};
const forked = [explorer('a', { blockHash: '2'.repeat(64) }), explorer('b', { blockHash: null })];
const second = (change: object) => ({ explorers: [explorer('a'), explorer('b', change)] });

const drained = ['a', 'b'].map((name) => explorer(name, { satsNow: 999n }));
const poorer = ['a', 'b'].map((name) => explorer(name, { satsAtProof: 999n }));

const BOTH = 'bitcoin_signature solana_signature';
it.each<[string, Partial<ProofEvidence>, string]>([
  ['a figure changed after signing, if explorers agree', { proof: edited, explorers: agreeing }, BOTH],
  ['swapped signatures', { proof: swapped }, BOTH],
  ['the signature of another Solana address', bySolana({ address: MINT }), 'solana_signature'],
  ['the signature of another Bitcoin address', { proof: ofTaproot }, 'bitcoin_signature'],
  ['a raised S', bySolana({ signature: raisedS(solana.signature) }), 'solana_signature'],
  ['a signature that does not decode', bySolana({ signature: 'abc' }), 'solana_signature'],
  ['an address without a key', { proof: forged, mintKeys: { authority: null } }, 'solana_signature'],
  ['two explorers with another balance at the block', { explorers: poorer }, 'reserve'],
  ['a supply of the lower balance', { supply: supply(120_000n, 20_000n) }, ''],
  ['a supply one atom above the lower balance', { supply: supply(120_001n, 20_001n) }, 'supply'],
  ['a balance now below the supply, if explorers agree', { explorers: drained }, 'supply'],
  ['other decimals', { supply: { ...supply(1n), decimals: 3 } }, 'supply'],
  ['a later supply after that many more', { supply: supply(100_010n, 10n) }, ''],
  ['a later supply after that many fewer', { supply: supply(99_990n, -10n) }, ''],
  ['a later supply without a change', { supply: supply(100_010n, 0n) }, 'supply'],
  ['a later supply after another change', { supply: supply(99_990n, 10n) }, 'supply'],
  ['another service', { host: 'other.example' }, 'freshness'],
  ['an age of 36 hours', { now: SIGNED + 36 * 3_600_000 }, ''],
  ['an age of 36 hours and a millisecond', { now: SIGNED + 36 * 3_600_000 + 1 }, 'freshness'],
  ['a time five minutes ahead of our clock', { now: SIGNED - 5 * 60_000 }, ''],
  ['a time five minutes and a millisecond ahead', { now: SIGNED - 5 * 60_000 - 1 }, 'freshness'],
  ['a block that is not on the best chain', { explorers: forked }, 'freshness'],
])('for %s, only the contradicted lines are red', (_what, change, lines) => {
  expect(red(change).join(' ')).toBe(lines);
});

it.each([999n, 51_000n])(
  'if one explorer shows the signed balance and the other %s sats, they contradict each other, not the proof',
  (satsAtProof) => {
    expect(red(second({ satsAtProof }))).toEqual([]);
    expect(checkProof(evidence(second({ satsAtProof })))[2]).toEqual({
      ...{ name: 'reserve', result: 'disputed' },
      text: `the explorers contradict each other: a shows 1,000 sats and b shows ${grouped(String(satsAtProof))} sats; signed are 1,000 sats at block 800`,
    });
  },
);

it('if only one explorer shows too few sats for the supply, the line of the supply is not decided', () => {
  const change = second({ satsNow: 999n });
  expect(red(change)).toEqual([]);
  expect(linesWith('disputed', change)).toEqual(['supply']);
});

it('checkProof throws a RangeError for a message that is not a proof', () => {
  expect(() => checkProof(evidence({ proof: signProof('Reserve proof: 2') }))).toThrow(RangeError);
});

describe('who can mint', () => {
  const minting = (mintKeys: ProofEvidence['mintKeys']) =>
    checkProof(evidence({ mintKeys })).find(({ name }) => name === 'minting')?.result;

  it('the line about minting is green for a multisig of the custodian and a witness in either order, and if minting is disabled', () => {
    expect(minting(PAIR)).toBe('confirmed');
    expect(minting({ ...PAIR, signers: [WITNESS, solanaAddress] })).toBe('confirmed');
    expect(minting({ authority: null })).toBe('confirmed');
  });

  it('the line about minting warns if the key of the reserve mints alone', () => {
    expect(minting({ authority: solanaAddress, required: 1, signers: [solanaAddress] })).toBe('warned');
  });

  it.each<[string, Partial<typeof PAIR>]>([
    ['another key', { authority: WITNESS, required: 1, signers: [WITNESS] }],
    ['one of two', { required: 1 }],
    ['two of three', { signers: [solanaAddress, WITNESS, MINT] }],
    ['two keys of others', { signers: [WITNESS, MINT] }],
    ['the same key twice', { signers: [solanaAddress, solanaAddress] }],
  ])('the line about minting is red for %s', (_, change) => {
    expect(minting({ ...PAIR, ...change })).toBe('contradicted');
  });

  it('the line about minting is unchecked when no node responds', () => {
    expect(minting(null)).toBe('unchecked');
  });
});

it('no line is red for the proof of a service without a token', () => {
  const message = MESSAGE.replace(/ABSR (mint|supply atoms|decimals): \S+/g, 'ABSR $1: none');
  expect(red({ proof: signProof(message), supply: null })).toEqual([]);
});

type Esbuild = { buildSync(options: object): { outputFiles: { text: string }[] } };

it('the check runs with only the APIs of a browser', () => {
  // The bundler comes with the deploy tool.
  const require = createRequire(createRequire(import.meta.url).resolve('wrangler'));
  const { outputFiles } = (require('esbuild') as Esbuild).buildSync({
    ...{ entryPoints: [join(import.meta.dirname, '../../../src/chain/bitcoin/proof-check.ts')] },
    ...{ bundle: true, platform: 'browser', format: 'iife', globalName: 'proof', write: false },
  });
  const page = createContext({ TextEncoder, TextDecoder, given: evidence() });
  runInContext(outputFiles[0]?.text ?? '', page);
  const verdicts = runInContext('JSON.stringify(proof.checkProof(given).map(({ result }) => result))', page);
  expect(JSON.parse(String(verdicts))).toEqual(Array(6).fill('confirmed'));
});
