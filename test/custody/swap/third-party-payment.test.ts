import { describe, expect, it } from 'vitest';
import { LIFI_SLIPPAGE_BPS } from '../../../src/bridges/lifi.ts';
import type { Tool } from '../../../src/bridges/lifi-quote.ts';
import { addressSeed } from '../../../src/chain/solana/program-address.ts';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import {
  programDataAddress,
  UPGRADEABLE,
  UPGRADEABLE_LOADER,
} from '../../../src/custody/policy/deployments.ts';
import { LIFI_COLLECTOR } from '../../../src/custody/policy/instructions.ts';
import { TRACKER_PROGRAM } from '../../../src/custody/policy/programs.ts';
import { LOOKUP_TABLE_PROGRAM } from '../../../src/custody/policy/resolved-instructions.ts';
import { createThirdPartyCheck, type PolicyNode } from '../../../src/custody/swap/third-party-payment.ts';
import type { ChainAccount } from '../../../src/providers/solana-rpc.ts';
import { tableData, u32, u64 } from '../../world/lifi-transaction.ts';
import { draftSwap, EPOCH, finish, NOW, OWN, RESERVE, TABLE, tableOf } from '../policy/draft.ts';

const account = (owner: string, data: Uint8Array, atoms = 1n): ChainAccount => ({
  owner,
  lamports: atoms,
  data,
});
const programs = (slot: bigint): [string, ChainAccount][] =>
  UPGRADEABLE.flatMap((program) => [
    [
      program,
      account(UPGRADEABLE_LOADER, Uint8Array.from([...u32(2), ...addressSeed(programDataAddress(program))])),
    ],
    [
      programDataAddress(program),
      account(UPGRADEABLE_LOADER, Uint8Array.from([...u32(3), ...u64(slot), ...new Uint8Array(33)])),
    ],
  ]);

/** Two nodes and a bridge with an honest draft, and the requests that they received. */
function setUp(tool: Tool = 'near', seed = 3) {
  const draft = draftSwap(tool, seed);
  draft.version = 0;
  draft.inTable = [LIFI_COLLECTOR];
  const asked: string[] = [];
  const logged: Readonly<Record<string, unknown>>[] = [];
  const recorded = new Map<string, bigint>();
  const input = finish(draft);
  const chains = [0, 1].map(
    () =>
      new Map<string, ChainAccount>([
        ...programs(5n),
        [TABLE, account(LOOKUP_TABLE_PROGRAM, tableData(tableOf(draft)))],
        ...[...input.simulation.accounts].flatMap(([address, { before }]) =>
          before ? [[address, before] as [string, ChainAccount]] : [],
        ),
      ]),
  );
  const nodes = chains.map(
    (chain, index): PolicyNode => ({
      async accounts(addresses, commitment) {
        asked.push(`${index} accounts ${commitment}`);
        return { slot: 1n, accounts: addresses.map((address) => chain.get(address) ?? null) };
      },
      epoch: async () => EPOCH,
      async simulateChange(wire, keys, addresses) {
        asked.push(`${index} simulate ${addresses.length} of ${keys.length}`);
        expect(atob(wire).slice(1, 65)).toBe('\0'.repeat(64));
        return {
          err: draft.simulation.error,
          accounts: addresses.map((address) => draft.simulation.accounts.get(address)?.after ?? null),
          inner: draft.simulation.inner.map(({ instruction, call }) => ({
            instruction,
            program: call.program,
            accounts: call.accounts.map(({ address }) => address),
            data: call.data,
          })),
        };
      },
    }),
  );
  const status = async () => {
    asked.push('status');
    if (!input.nearStatus) throw upstreamFailed('near-intents', 'deposit_unknown');
    return input.nearStatus;
  };
  const ports = {
    terms: input.terms,
    quoteKey: input.quoteKey,
    nodes,
    first: <T>(read: (node: PolicyNode) => Promise<T>) => read(nodes[0] as PolicyNode),
    nearStatus: status as (depositAddress: string) => ReturnType<typeof status>,
    latestBlockhash: async () => ({ ...input.lifetime, slot: 77n, witnesses: [] }),
    sleep: async (ms: number) => void asked.push(`sleep ${ms}`),
    now: () => NOW,
    log: (line: Readonly<Record<string, unknown>>) => void logged.push(line),
  };
  const checkThirdParty = () =>
    createThirdPartyCheck(ports, {
      recorded: (program) => recorded.get(program) ?? null,
      record: (program, slot) => void recorded.set(program, slot),
    })(
      {
        quote: { ...input.quote, transactionRequest: { data: String(input.data) } },
        slippageBps: LIFI_SLIPPAGE_BPS,
        askedAt: NOW - 1_000,
      },
      { amount: lamports(draft.amount), floorSats: input.order.floorSats },
    );
  return { draft, input, chains, nodes, ports, asked, logged, recorded, checkThirdParty };
}

describe('a payment that a third party has built', () => {
  it.each(['near', 'chainflip'] as const)(
    'by %s passes on the data of two nodes and the bridge',
    async (tool) => {
      const w = setUp(tool);
      const passed = await w.checkThirdParty();
      expect(passed).toMatchObject({
        ok: true,
        signedAt: { slot: 77n, witnesses: [] },
        plan: { tool, depositAddress: tool === 'near' ? w.draft.deposit : null },
      });
      if (!passed.ok) return;
      expect(passed.claims).toEqual([
        `lifi:${passed.plan.quoteId}`,
        `lifi-message:${passed.plan.messageHash}`,
        tool === 'near' ? `deposit:${w.draft.deposit}` : `vault-swap:${passed.plan.vaultSwap}`,
      ]);
      expect(w.asked.includes('status')).toBe(tool === 'near');
      expect(w.recorded).toEqual(new Map(UPGRADEABLE.map((program) => [program, 5n])));
    },
  );

  it('is read at finalized from both nodes, and run without a signature', async () => {
    const w = setUp();
    await w.checkThirdParty();
    expect(w.asked.filter((call) => call.includes('finalized')).toSorted()).toEqual([
      '0 accounts finalized',
      '0 accounts finalized',
      '1 accounts finalized',
      '1 accounts finalized',
    ]);
    expect(w.asked.filter((call) => call.includes('simulate'))).toHaveLength(1);
  });

  it('is run again where a node shows no more accounts than the transaction has', async () => {
    const w = setUp();
    const many = Array.from({ length: 12 }, () => OWN).flat();
    w.ports.terms = { ...w.ports.terms, ownAccounts: many };
    expect(await w.checkThirdParty()).toMatchObject({ ok: true });
    const runs = w.asked.filter((call) => call.includes('simulate'));
    expect(runs.length).toBeGreaterThan(1);
    for (const run of runs) {
      const [, shown = 0, keys = 0] = /simulate (\d+) of (\d+)/.exec(run)?.map(Number) ?? [];
      expect(shown).toBeLessThanOrEqual(keys);
    }
  });
});

describe('it is refused', () => {
  type World = ReturnType<typeof setUp>;
  it.each<[string, string, (w: World) => void]>([
    ['when the second node has no such table', 'table_unread', (w) => w.chains[1]?.delete(TABLE)],
    [
      'when the second node is down',
      'table_unread',
      (w) =>
        (w.nodes[1] = {
          ...(w.nodes[0] as PolicyNode),
          accounts: () => Promise.reject(upstreamFailed('rpc', 'timeout')),
        }),
    ],
    [
      'when the nodes return two different tables',
      'table_disagreement',
      (w) => w.chains[1]?.set(TABLE, account(LOOKUP_TABLE_PROGRAM, tableData([RESERVE, RESERVE]))),
    ],
    ['when there is one node only', 'table_unread', (w) => w.nodes.pop()],
    [
      'when the nodes differ about a deployment',
      'program_deploy_unread',
      (w) => programs(6n).map(([address, state]) => w.chains[1]?.set(address, state)),
    ],
    [
      'when a program is not there',
      'program_deploy_unread',
      (w) => w.chains.map((chain) => chain.delete(TRACKER_PROGRAM)),
    ],
    ['when a program was deployed since', 'program_redeployed', (w) => w.recorded.set(TRACKER_PROGRAM, 4n)],
    ['when it would fail', 'simulation_failed', (w) => (w.draft.simulation.error = 'x')],
    [
      'when an account of ours would change',
      'own_account_changed',
      (w) => w.draft.simulation.accounts.set(OWN[0] ?? '', { before: null, after: null }),
    ],
    [
      'when the bridge does not answer',
      'destination_unconfirmed',
      (w) => (w.ports.nearStatus = () => Promise.reject(upstreamFailed('near-intents', 'timeout'))),
    ],
    [
      'when it pays less than an independent price',
      'quote_minimum',
      (w) => (w.input.quote.estimate.toAmountMin = '1'),
    ],
  ])('%s', async (_name, reason, change) => {
    const w = setUp();
    change(w);
    expect(await w.checkThirdParty()).toEqual({ ok: false, reason });
    expect(w.logged).toMatchObject([{ event: 'swap_policy_refused', reason }]);
    expect(w.recorded.get(TRACKER_PROGRAM)).not.toBe(5n);
  });

  it('as an alarm when a program or the signature of the bridge is another', async () => {
    const redeployed = setUp();
    redeployed.recorded.set(TRACKER_PROGRAM, 4n);
    await redeployed.checkThirdParty();
    const forged = setUp();
    forged.ports.quoteKey = 'ed25519:reYaWhvwu8Jzo3WUM3zhn6VrhuMEF4eADL17qtRVifc';
    expect(await forged.checkThirdParty()).toEqual({ ok: false, reason: 'quote_signature' });
    expect([...redeployed.logged, ...forged.logged].map(({ level }) => level)).toEqual(['alarm', 'alarm']);
  });
});

it('a deposit address that the bridge does not have yet is requested again, a few times', async () => {
  const w = setUp();
  let times = 0;
  const known = w.ports.nearStatus;
  w.ports.nearStatus = (deposit) =>
    ++times < 3 ? Promise.reject(upstreamFailed('near-intents', 'deposit_unknown')) : known(deposit);
  expect(await w.checkThirdParty()).toMatchObject({ ok: true });
  expect(w.asked.filter((call) => call.startsWith('sleep'))).toEqual(['sleep 1000', 'sleep 1000']);
  const never = setUp();
  never.ports.nearStatus = () => Promise.reject(upstreamFailed('near-intents', 'deposit_unknown'));
  expect(await never.checkThirdParty()).toEqual({ ok: false, reason: 'destination_unconfirmed' });
  expect(never.asked.filter((call) => call.startsWith('sleep'))).toHaveLength(3);
});

it('a simulation that no node can run is a failure, not a refusal', async () => {
  const w = setUp();
  w.ports.first = () => Promise.reject(upstreamFailed('solana-rpc', 'timeout'));
  await expect(w.checkThirdParty()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
});
