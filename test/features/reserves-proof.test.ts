import { expect, it } from 'vitest';
import { HOUR_MS } from '../../src/core/durations.ts';
import { AppError } from '../../src/core/errors.ts';
import type { ProofAnswer, ProofRecord } from '../../src/custody/api.ts';
import { type GetProofDeps, getProof } from '../../src/features/reserves/get-proof.ts';
import { Cache } from '../../src/http/cached.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const at = (ms: number): ProofRecord => ({
  ...{
    message: `signed at ${ms}`,
    timestamp: new Date(ms).toISOString(),
    hash: `hash ${ms}`,
    offline: false,
  },
  bitcoin: { scheme: 'bip322-simple', signature: 'smpA', unprefixed: 'A' },
  solana: { scheme: 'ed25519-utf8', signature: 's' },
});

/** @param archive oldest first; null is down */
function service(archive: ProofRecord[] | null, answer: ProofAnswer | 'down' = 'down') {
  const clock = { ms: NOW };
  const calls = { archive: 0, custodian: 0 };
  const rows = (): ProofRecord[] => {
    calls.archive++;
    if (!archive) throw new Error('D1 is down');
    return [...archive].reverse();
  };
  const d: GetProofDeps = {
    cache: new Cache({ now: () => clock.ms, defer: () => undefined }),
    now: () => clock.ms,
    proofs: { newest: async () => rows()[0], list: async () => [], listDaily: async () => [] },
    custody: {
      async proof() {
        calls.custodian++;
        if (answer === 'down') throw new AppError('CUSTODIAN_UNAVAILABLE', 'down');
        return answer;
      },
    },
  };
  return { d, calls, clock };
}

it('reads the newest proof from the archive once, then from memory, without calling the custodian', async () => {
  const { d, calls } = service([at(NOW - 2 * HOUR_MS), at(NOW - HOUR_MS)]);
  for (let read = 0; read < 100; read++) {
    expect((await getProof(d)).value.hash).toBe(`hash ${NOW - HOUR_MS}`);
  }
  expect(calls).toEqual({ archive: 1, custodian: 0 });
});

it('reads the newest proof from the custodian if the archive has none, or only one that is overdue or far ahead', async () => {
  const proof = at(NOW);
  for (const archive of [[], [at(NOW - 2 * HOUR_MS)], [at(NOW + HOUR_MS)]]) {
    const { d, calls } = service(archive, { type: 'proof', proof });
    expect((await getProof(d)).value).toEqual(proof);
    expect(calls.custodian).toBe(1);
  }
});

it.each([
  ['the custodian is down', 'down'],
  ['the custodian refuses', { type: 'refused', refusal: { code: 'UPSTREAM_FAILED', message: 'no' } }],
] as const)('returns the overdue proof, marked stale, while %s', async (_, answer) => {
  const { d } = service([at(NOW - 40 * HOUR_MS)], answer);
  expect(await getProof(d)).toMatchObject({ value: { hash: `hash ${NOW - 40 * HOUR_MS}` }, stale: true });
});

it.each([
  ['without a signed proof', []],
  ['whose archive has only proofs of an earlier address', [at(NOW - 40 * HOUR_MS)]],
])('returns "not configured" with a reason for a watch-only address %s', async (_, archive) => {
  const details = { variables: 'BTC_PRIVATE_KEY_WIF', watchOnly: true };
  const refusal = { code: 'NOT_CONFIGURED', message: 'watch-only', details } as const;
  const shown = { variables: ['BTC_PRIVATE_KEY_WIF'], watchOnly: true };
  await expect(getProof(service(archive, { type: 'refused', refusal }).d)).rejects.toMatchObject({
    ...{ code: 'NOT_CONFIGURED', status: 503, details: shown },
  });
});

it("returns this isolate's last proof, marked stale, while D1 is unavailable", async () => {
  const archive = [at(NOW)];
  const { d, clock } = service(archive);
  await getProof(d);
  clock.ms += HOUR_MS;
  const down = { ...d, proofs: service(null).d.proofs };
  expect(await getProof(down)).toMatchObject({ stale: true, value: { hash: `hash ${NOW}` } });
  await expect(getProof(service(null).d)).rejects.toThrow('D1 is down');
});
