/** Scenes of a reserve over days as steps in text. */
import { parseProofMessage } from '../../../src/chain/bitcoin/proof-message.ts';
import type { ProofRecord } from '../../../src/custody/api.ts';
import type { OpsCommand } from '../../../src/custody/operator-api.ts';
import { createProofStore } from '../../../src/features/reserves/reserves-store.ts';
import { msOf, playSteps } from '../../kit/scenes.ts';
import type { createReserveService } from './reserve-service.ts';

export const MIDNIGHT = Date.UTC(2026, 4, 10);
const FAULTS = {
  wrong: { kind: 'wrong', by: 1n },
  down: { kind: 'down' },
  stale: { kind: 'stale' },
  ok: null,
} as const;
const orNone = (texts: readonly unknown[]): string => (texts.length === 0 ? 'none' : texts.join(', '));

export async function playReserve(
  steps: string,
  service: ReturnType<typeof createReserveService>,
): Promise<void> {
  const { bitcoin, clock, custody, indexes, mirror, solana } = service;
  const archive = () => mirror.records('proofs').map(({ journal }) => JSON.parse(journal) as ProofRecord);
  const verbs = {
    /** Cron ticks at the same time. */
    wake: (times = '1') => Promise.all(Array.from({ length: Number(times) }, () => custody.wake())),
    wait: (length: string) => service.pass(msOf(length)),
    /** Waits for a time after the midnight before the start. */
    until: (length: string) => service.pass(MIDNIGHT + msOf(length) - clock.now),
    jump: (length: string) => Object.assign(clock, { now: clock.now + msOf(length) }),
    tick(length: string) {
      clock.now += msOf(length);
      return custody.wake();
    },
    income: (sats: string) => bitcoin.move(BigInt(sats)),
    mine(blocks: string) {
      for (let block = 0; block < Number(blocks); block++) bitcoin.mine();
    },
    index: (at: string, how: keyof typeof FAULTS) => indexes[Number(at) as 0 | 1].set(FAULTS[how]),
    lag: (slots: string) => Object.assign(solana, { lagOfSecondNode: BigInt(slots) }),
    solana: (how: string) => Object.assign(solana, { isDown: how === 'down' }),
    sol: (lamports: string) => Object.assign(solana, { lamports: solana.lamports + BigInt(lamports) }),
    d1: (state: 'up' | 'down') => Object.assign(mirror, { state }),
    ops: (name: OpsCommand['name']) => custody.ops({ name }),
    mints: () => orNone(service.mints()),
    memos: () => orNone(service.memos.map(String)),
    async report() {
      const { day, state, reason, ok } = (await custody.report()).mint ?? {};
      return `${day} ${state} ${reason} ${ok ? 'ok' : 'alarm'}`;
    },
    /** A day with a mint or its attempt, the newest by default. */
    async day(at = '0') {
      const found = (await custody.listMints(9))[Number(at)];
      return found ? `${found.day} ${found.state} ${found.reason}` : 'none';
    },
    async figures() {
      const [found] = await custody.listMints(1);
      return `${found?.mintAtoms} for ${found?.reserveSats} sats and ${found?.supplyAtoms} atoms`;
    },
    async preview() {
      const { verdict, reason, mintAtoms } = await custody.previewMint();
      return `${verdict} ${reason} ${mintAtoms}`;
    },
    /** The age of the proof, or why there is none. */
    async proof(calls = '1') {
      const [answer] = await Promise.all(Array.from({ length: Number(calls) }, () => custody.proof()));
      if (answer?.type !== 'proof') return `${answer?.refusal.code} ${answer?.refusal.details?.reason}`;
      return `${(clock.now - Date.parse(answer.proof.timestamp)) / 1_000}s`;
    },
    proofs: () => archive().length,
    /** Whether each proof of the public archive names the one before it. */
    async linked() {
      const newestFirst = await createProofStore(mirror.d1).list(100);
      return newestFirst.every(
        ({ message }, at, all) => parseProofMessage(message).previousProof === (all[at + 1]?.hash ?? null),
      );
    },
  };
  await playSteps(steps, verbs);
}
