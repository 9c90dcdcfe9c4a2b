import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { buildProofMessage, parseProofMessage, proofHash } from '../../../src/chain/bitcoin/proof-message.ts';
import { signMessage, verifyMessage } from '../../../src/chain/bitcoin/signed-message.ts';
import { lamports, sats } from '../../../src/core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/durations.ts';
import type { ProofAnswer, ProofRecord } from '../../../src/custody/api.ts';
import { createProofSigner } from '../../../src/custody/kernel/signer.ts';
import { scenes } from '../../kit/scenes.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { RESERVE_BTC, RESERVE_WIF } from './bitcoin-model.ts';
import { playReserve } from './reserve-scenes.ts';
import { createReserveService, MINT, reserveSigner, SERVICE, SOL } from './reserve-service.ts';

/** Before the time of the mint, so that nothing else is signed. */
const START = Date.UTC(2026, 4, 10, 0, 0, 1);
const MINUTE = 60_000;

/** Mints have tests of their own. @param wif null for an address that is only watched */
function start(wif: string | null = RESERVE_WIF) {
  const service = createReserveService({ at: START, mints: false, proof: { wif: wif ?? undefined } });
  const { clock, bitcoin, mirror } = service;
  bitcoin.move(50_000n);
  bitcoin.mine();
  let { custody, storage } = service;
  return {
    ...service,
    archive: (): ProofRecord[] =>
      mirror.records('proofs').map(({ journal }) => JSON.parse(journal) as ProofRecord),
    custody: () => custody,
    /** Starts another instance, on an empty storage if the journal is lost. */
    restart(isLost = false): void {
      storage = isLost ? createSqliteStorage() : storage.successor();
      custody = service.start(storage);
    },
    /** A cron tick after this time. */
    async tick(after = 0): Promise<void> {
      clock.now += after;
      await custody.wake();
    },
  };
}

function proofOf(answer: ProofAnswer): ProofRecord {
  if (answer.type === 'refused') throw new Error(JSON.stringify(answer.refusal));
  return answer.proof;
}

describe('an hour', () => {
  it('signs the proof of the hour even if a block arrived between the reads of the two indexes', async () => {
    const w = start();
    w.indexes[0].set({ kind: 'stale' });
    w.bitcoin.mine();
    let calls = 0;
    // The first index has the new block when both are read again.
    w.bitcoin.onCall = () => {
      calls += 1;
      if (calls > 2) w.indexes[0].set(null);
    };
    await w.tick();
    expect(parseProofMessage(proofOf(await w.custody().proof()).message).bitcoinTip.height).toBe(
      w.bitcoin.height(),
    );
    expect(w.archive()).toHaveLength(1);
  });

  it('signs one proof an hour with both keys, and the proof has the figures of both chains', async () => {
    const w = start();
    await w.tick();
    const proof = proofOf(await w.custody().proof());
    const { bitcoin, solana, message } = proof;
    expect(parseProofMessage(message)).toMatchObject({
      service: SERVICE,
      bitcoinAddress: RESERVE_BTC,
      solanaAddress: w.signer.address,
      reserveSats: 50_000n,
      solanaLamports: 10n * SOL,
      absr: { mint: MINT, atoms: 0n, decimals: 2 },
      bitcoinTip: { height: w.bitcoin.height() },
      time: new Date(START).toISOString(),
      previousProof: null,
    });
    expect(bitcoin.scheme).toBe('bip322-simple');
    expect(bitcoin.signature).toBe(`smp${bitcoin.unprefixed}`);
    for (const signature of [bitcoin.signature, bitcoin.unprefixed ?? '']) {
      expect(verifyMessage({ address: RESERVE_BTC, message, signature }).verdict).toBe('valid');
    }
    expect(solana.scheme).toBe('ed25519-utf8');
    const key = base58.decode(w.signer.address);
    expect(ed25519.verify(base58.decode(solana.signature), new TextEncoder().encode(message), key)).toBe(
      true,
    );
    expect(w.archive()).toEqual([proof]);
  });

  it('a proof names the previous proof, even after a restart', async () => {
    const w = start();
    await w.tick();
    w.restart();
    await w.tick(HOUR_MS);
    await w.tick(HOUR_MS);
    const [first, second, third] = w.archive();
    expect(parseProofMessage(second?.message ?? '').previousProof).toBe(first?.hash);
    expect(parseProofMessage(third?.message ?? '').previousProof).toBe(second?.hash);
    expect(first?.hash).toBe(
      proofHash(first?.message ?? '', {
        bitcoin: first?.bitcoin.signature ?? null,
        solana: first?.solana.signature ?? null,
      }),
    );
  });
});

it.each(
  scenes(`
    the proof of the hour is signed at once even if the clock was set back by a day after a failure
      | jump 1d; index 0 stale; mine 1; proof = UPSTREAM_FAILED tips_apart; index 0 ok; proof = UPSTREAM_FAILED tips_apart; jump -1d; proof = 0s
    a proof has the present time after a proof whose time is ahead, because the clock was set back
      | jump 1d; tick 0s; jump -1d; proof = 0s
    no second proof is signed even a millisecond before the hour ends, for any number of calls
      | proof 100; tick 59m59s999ms; proof; proofs = 1; tick 1ms; proofs = 2
    any call signs the first proof, without a cron run
      | proof = 0s; proofs = 1
    any call signs an overdue proof
      | tick 0s; jump 3h; proof = 0s
    no proof is signed while two indexes contradict each other
      | index 1 wrong; tick 0s; proofs = 0; proof = UPSTREAM_FAILED sources_disagree; index 1 ok; tick 1m; proofs = 1
    no proof is signed while one index is down
      | index 1 down; tick 0s; proofs = 0; proof = UPSTREAM_FAILED one_source; index 1 ok; tick 1m; proofs = 1
    no proof is signed while the tips differ, and the last proof stays available
      | tick 0s; index 0 stale; mine 1; tick 2h; proof = 7200s
    no proof is signed while no Solana node responds
      | solana down; tick 0s; proofs = 0
    no proof is signed while the operator has paused
      | tick 0s; ops pause; tick 1h; proofs = 1; ops resume; tick 1m; proofs = 2
    the archive in D1 receives every proof, later if D1 was unavailable
      | tick 0s; d1 down; tick 1h; tick 1h; proofs = 1; d1 up; tick 1m; proofs = 3; linked = true
    the archive shows each proof after the proof that it names, although the clock was a day ahead for one proof
      | tick 0s; jump 1d; tick 0s; jump -23h; tick 0s; tick 2h; proofs = 4; linked = true
  `),
)('%s', (_title, steps = '') => {
  const w = start();
  return playReserve(steps, { ...w, custody: w.custody() });
});

describe('the archive', () => {
  it.each([
    ['', 0],
    [', although the clock was ahead for one of them', DAY_MS],
  ])(
    "an empty journal signs no proof before it begins anew, and then continues the archive's chain of proofs%s",
    async (_, aheadMs) => {
      const w = start();
      await w.tick();
      await w.tick(HOUR_MS + aheadMs);
      w.clock.now -= aheadMs;
      await w.tick(HOUR_MS);
      const { hash } = proofOf(await w.custody().proof());
      w.restart(true);
      await w.tick(HOUR_MS);
      await w.tick(10 * MINUTE);
      expect(w.archive()).toHaveLength(3);
      const { message } = await w.custody().ops({ name: 'begin-anew' });
      const id = /--confirm (\w+)/.exec(message)?.[1] ?? '';
      expect(await w.custody().ops({ name: 'begin-anew', id })).toMatchObject({ ok: true });
      await w.custody().ops({ name: 'resume' });
      await w.tick(MINUTE);
      expect(parseProofMessage(proofOf(await w.custody().proof()).message).previousProof).toBe(hash);
    },
  );
});

describe('a Bitcoin key that is kept elsewhere', () => {
  const sign = (message: string, wif = RESERVE_WIF) => signMessage({ wif, address: RESERVE_BTC, message });
  async function draftOf(w: ReturnType<typeof start>): Promise<string> {
    const draft = await w.custody().draftProof();
    if (draft.type === 'refused') throw new Error(draft.refusal.message);
    return draft.message;
  }
  const watchOnly = () => start(null);

  it('without a proof, the response says that the Bitcoin key is kept elsewhere', async () => {
    const w = watchOnly();
    await w.tick();
    expect(await w.custody().proof()).toMatchObject({
      type: 'refused',
      refusal: { code: 'NOT_CONFIGURED', details: { watchOnly: true } },
    });
    expect(w.archive()).toEqual([]);
  });

  it('an offline key signs the draft, which stays the same until it is signed', async () => {
    const w = watchOnly();
    const message = await draftOf(w);
    w.clock.now += 6 * HOUR_MS;
    w.restart();
    expect(await draftOf(w)).toBe(message);
    const proof = proofOf(await w.custody().submitProof(sign(message).signature));
    expect(proof).toMatchObject({ message, offline: true, bitcoin: { scheme: 'bip322-simple' } });
    expect(proofOf(await w.custody().proof())).toEqual(proof);
    expect(w.archive()).toEqual([proof]);
    w.clock.now += MINUTE;
    expect(parseProofMessage(await draftOf(w)).previousProof).toBe(proof.hash);
  });

  it('shows no proof of an earlier address, but links the next proof to it', async () => {
    const w = watchOnly();
    const proof = proofOf(await w.custody().submitProof(sign(await draftOf(w)).signature));
    Object.assign(w.deps.proof ?? {}, { bitcoinAddress: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu' });
    w.restart();
    expect(await w.custody().proof()).toMatchObject({ refusal: { details: { watchOnly: true } } });
    expect(parseProofMessage(await draftOf(w)).previousProof).toBe(proof.hash);
  });

  it("accepts an older wallet's signature without the prefix, and publishes both spellings", async () => {
    const w = watchOnly();
    const signed = sign(await draftOf(w));
    const proof = proofOf(await w.custody().submitProof(signed.signatureUnprefixed ?? ''));
    expect(proof.bitcoin).toEqual({
      scheme: 'bip322-simple',
      signature: signed.signature,
      unprefixed: signed.signatureUnprefixed,
    });
  });

  it.each([
    ['of another text', (message: string) => sign(`${message} `).signature],
    ['without a signer', () => 'smpAAAA'],
    ['that is none', () => ''],
  ])('refuses a signature %s, and keeps the draft', async (_, signature) => {
    const w = watchOnly();
    const message = await draftOf(w);
    expect(await w.custody().submitProof(signature(message))).toMatchObject({
      type: 'refused',
      refusal: { code: 'INVALID_INPUT' },
    });
    expect(w.archive()).toEqual([]);
    expect(await draftOf(w)).toBe(message);
  });

  it('refuses a signature without a draft, after a week, or for the second time', async () => {
    const w = watchOnly();
    const refused = { type: 'refused', refusal: { code: 'NOT_FOUND' } };
    expect(await w.custody().submitProof('smpAAAA')).toMatchObject(refused);
    const old = await draftOf(w);
    w.clock.now += 7 * 24 * HOUR_MS;
    expect(await w.custody().submitProof(sign(old).signature)).toMatchObject(refused);
    const current = await draftOf(w);
    expect(current).not.toBe(old);
    const { signature } = sign(current);
    proofOf(await w.custody().submitProof(signature));
    expect(await w.custody().submitProof(signature)).toMatchObject(refused);
    expect(w.archive()).toHaveLength(1);
  });
});

const solana = reserveSigner();
const signer = createProofSigner({ solana, bitcoinAddress: RESERVE_BTC, wif: RESERVE_WIF });
const message = (change: Partial<Parameters<typeof buildProofMessage>[0]> = {}): string =>
  buildProofMessage({
    service: SERVICE,
    bitcoinAddress: RESERVE_BTC,
    solanaAddress: solana.address,
    reserveSats: sats(1n),
    solanaLamports: lamports(1n),
    absr: null,
    bitcoinTip: { height: 1, hash: '0'.repeat(64) },
    solanaTip: { slot: 1n, blockhash: MINT },
    time: new Date(START).toISOString(),
    previousProof: null,
    ...change,
  });

it.each([
  ['a login', 'Sign in to example.org'],
  ['a transaction’s bytes', '\u0001\u0000\u0001'],
  ['a proof with a line more', `${message()}\nI owe you: 1 BTC`],
  ['a proof of another Solana address', message({ solanaAddress: MINT })],
  [
    'a proof of another Bitcoin address',
    message({ bitcoinAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }),
  ],
])('the signer refuses to sign %s', async (_, text) => {
  await expect(signer.sign(text)).rejects.toThrow(RangeError);
});
