/**
 * Puts the models together and hands them to the production code as its ports.
 * @module
 */

import type { Custody } from '../../src/custody/custodian.ts';
import type { CustodyDeps } from '../../src/custody/custody-deps.ts';
import type { Begin } from '../../src/custody/kernel/begin-operation.ts';
import type { Signer } from '../../src/custody/kernel/ports.ts';
import type { ChainPort } from '../../src/custody/kernel/solana-view.ts';
import { type BitcoinModel, createBitcoinModel } from './bitcoin-model.ts';
import { type BridgeModel, createBridgeModel } from './bridge-model.ts';
import { type ChainModel, createChainModel } from './chain-model.ts';
import { createD1Model, type D1Model } from './d1-model.ts';
import type { Contents } from './disk.ts';
import type { Faults } from './faults.ts';
import { createHost, type Host, type Instance } from './host.ts';
import { assemble, readWire, signatureOf } from './message-reader.ts';
import { createNodeModel } from './node-model.ts';
import { ageRows } from './old-rows.ts';
import { createPayoutKind } from './payout-kind.ts';
import type { Production } from './production.ts';
import { createRandom } from './random.ts';
import { directRpc } from './rpc-direct.ts';
import { createWire } from './rpc-wire.ts';
import type { Scenario } from './scenario.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';
import { createScreenModel, MAX_FOREIGN_FEE } from './screen-model.ts';
import { createWitness, type Witness } from './witness.ts';

export type Custodian = Custody & { readonly begin: Begin };

export type Trace = (line: () => string) => void;

export type World = {
  readonly scenario: Scenario;
  readonly scheduler: Scheduler;
  readonly chain: ChainModel;
  readonly bridge: BridgeModel;
  readonly bitcoin: BitcoinModel;
  readonly d1: D1Model;
  readonly host: Host<Custodian>;
  readonly witness: Witness;
  readonly trace: Trace;
  readonly state: State;
  wallClock(): number;
};

/** What the run changes as it goes on. */
export type State = {
  isCalm: boolean;
  /** Milliseconds by which the object's clock is off. */
  clockOffset: number;
  /** The journal was lost or restored and nobody has reconciled it. */
  isLost: boolean;
  wasLost: boolean;
  /** Instances that start know no payouts. */
  isOldVersion: boolean;
  /** Nobody leaves before: the operator has still to come. */
  calmUntil: number;
  /** An older state of the journal, which may be put in its place. */
  remembered: { readonly rows: Contents; readonly revision: number } | undefined;
  /** Rows lose members that newer versions have added, before the next instance starts. */
  agesRows: boolean;
};

const EPOCH = 1_800_000_000_000;
const RESERVE = 'Reserve1111111111111111111111111111111111111'.slice(0, 43);
const BITCOIN_ADDRESS = 'bc1qreserve';

export function createWorld(scenario: Scenario, production: Production, trace: Trace): World {
  const random = createRandom(scenario.seed ^ 0x5bd1e995);
  const scheduler = createScheduler();
  const state: State = {
    isCalm: false,
    clockOffset: 0,
    isLost: false,
    wasLost: false,
    calmUntil: 0,
    remembered: undefined,
    isOldVersion: scenario.oldVersion,
    agesRows: false,
  };
  const faults = (): Faults => (state.isCalm ? scenario.calm : scenario.wild);
  const wallClock = () => EPOCH + state.clockOffset + scheduler.now();
  const witness = createWitness({
    limits: scenario.limits,
    startLamports: scenario.startLamports,
    bridgeLies: scenario.wild.bridge.fates.includes('untrue'),
  });
  const chain = createChainModel({
    scheduler,
    random: random.fork(),
    slotMs: scenario.slotMs,
    startLamports: scenario.startLamports,
    fates: () => faults().sends,
    onLanding(entry) {
      trace(() => `chain: ${entry.signature} ${entry.failed ? 'fails' : 'lands'} in slot ${entry.slot}`);
      witness.landed(entry);
    },
    onDropped: (entry) => trace(() => `chain: a fork takes ${entry.signature} out of slot ${entry.slot}`),
    onUncovered: (signature, balance) =>
      witness.broken('covered', `${signature} moves more than the ${balance} lamports of the reserve`),
    onFinal(entry) {
      trace(() => `chain: ${entry.signature} is final`);
      witness.final(entry);
      if (!entry.movement) bridge.refunded(entry.signature);
      else if (!entry.failed) bridge.deposited(entry.movement.to, entry.movement.lamports);
    },
  });
  const bitcoin = createBitcoinModel({
    scheduler,
    random: random.fork(),
    production,
    faults: () => faults().bitcoin,
  });
  const bridge = createBridgeModel({
    scheduler,
    random: random.fork(),
    production,
    bitcoin,
    bitcoinAddress: BITCOIN_ADDRESS,
    refund: (signature, amount) => chain.credit(signature, amount),
    faults: () => faults().bridge,
  });
  witness.watch({ chain, bridge });
  const d1 = createD1Model({
    scheduler,
    random: random.fork(),
    schema: production.schema,
    faults: () => faults().d1,
  });
  const nodeRandom = random.fork();
  const nodes = scenario.nodes.map(({ retention }, index) =>
    createNodeModel({
      name: `node-${index + 1}`,
      chain,
      random: nodeRandom.fork(),
      production,
      reserveAddress: RESERVE,
      retention,
      blockTime: (slot) => Math.floor((EPOCH + chain.timeOf(slot)) / 1_000),
      faults: () => faults().nodes,
    }),
  );
  const netRandom = random.fork();
  const screenRandom = createRandom(scenario.seed ^ 0x11f1);

  /** A call over the network: it takes time both ways, and the custodian may not live to see the answer. */
  function network(instance: Instance, label: string): <T>(ask: () => Promise<T>) => Promise<T> {
    return (ask) =>
      instance.cross(label, async () => {
        const { latent, latencyMs } = faults();
        if (netRandom.chance(latent)) await scheduler.sleep(netRandom.between(1, latencyMs));
        const answer = await ask();
        if (netRandom.chance(latent / 2)) await scheduler.sleep(netRandom.between(1, latencyMs));
        return answer;
      });
  }

  const boot = (instance: Instance): Custodian => {
    const traced =
      (label: string) =>
      async <T>(ask: () => Promise<T>): Promise<T> => {
        try {
          const value = await network(instance, label)(ask);
          trace(() => `#${instance.number} ${label} -> ${shown(value)}`);
          return value;
        } catch (error) {
          trace(() => `#${instance.number} ${label} fails: ${String(error)}`);
          throw error;
        }
      };
    const rpc = scenario.wire
      ? production.createSolanaRpc(createWire(nodes, production, (label, effect) => traced(label)(effect)))
      : directRpc(nodes, production, traced);
    const chainPort = production.createSolanaView({
      nodes: rpc.nodes,
      reserveAddress: RESERVE,
      now: wallClock,
      log: (line) => trace(() => `#${instance.number} log ${JSON.stringify(line)}`),
    });
    const mirror = production.createD1Mirror(d1.database);
    const prices = () =>
      faults().prices > 0 && netRandom.chance(faults().prices) ? [] : ['hyperliquid', 'coinbase'];
    const { latestBlockhash, transaction } = chainPort;
    const deps: CustodyDeps = {
      chain: watched(chainPort, witness),
      mirror: {
        ...mirror,
        apply: (rows) =>
          traced(`d1.apply(${rows.map((row) => `${row.id}@${row.revision}`)})`)(() => mirror.apply(rows)),
        highestRevision: () => traced('d1.highestRevision')(() => mirror.highestRevision()),
        operationsAfter: (id, limit) => traced('d1.operationsAfter')(() => mirror.operationsAfter(id, limit)),
      },
      signer: signerOf(instance, state, witness),
      swap: {
        reserveAddress: RESERVE,
        bitcoinAddress: BITCOIN_ADDRESS,
        routes: scenario.routes.map((name) => {
          const route = bridge.route(name);
          return {
            name,
            quote: (request) => traced(`${name}.quote`)(() => route.quote(request)),
            report: (sent) =>
              traced(`${name}.report(${sent.depositAddress?.slice(-4)})`)(() => route.report(sent)),
          };
        }),
        ...(scenario.routes.includes('lifi')
          ? {
              overhead: MAX_FOREIGN_FEE,
              screen: createScreenModel({
                random: screenRandom,
                reserveAddress: RESERVE,
                latestBlockhash,
                crossed: traced('screen'),
                refusing: () => faults().bridge.refusing,
              }),
            }
          : {}),
        maxCostBps: scenario.limits.maxCostBps,
        readPrices: () =>
          traced('prices')(async () =>
            prices().map((source) => ({ source, btcUsd: 100_000_000_000n, solUsd: 200_000_000n })),
          ),
        latestBlockhash,
        bitcoinViews: (txid) => traced('bitcoin.views')(async () => bitcoin.views(txid)),
        reserveSignatures: (page) =>
          rpc.first((node) => node.signaturesFor(RESERVE, { ...page, commitment: 'finalized' })),
        transaction,
      },
      kinds: state.isOldVersion ? {} : { asry: createPayoutKind({ latestBlockhash }) },
      limits: scenario.limits,
      swapsDisabled: false,
      maxCreatesPerClientHour: scenario.maxCreatesPerClientHour,
      assemble,
      now: wallClock,
      randomId: () => `random-${idRandom.between(0, 2 ** 40)}`,
      within: (work, ms) => within(scheduler, work, ms),
      log: (line) => trace(() => `#${instance.number} log ${JSON.stringify(line)}`),
    };
    return production.createCustodian(instance.storage, deps);
  };
  const idRandom = random.fork();

  const host = createHost<Custodian>({
    scheduler,
    random: random.fork(),
    faults: () => faults().host,
    wallClock,
    boot,
    beforeBoot(disk) {
      if (state.agesRows) ageRows(disk, random);
      state.agesRows = false;
    },
    onError(call, error) {
      // Reads and the operator's commands may say that an upstream has failed; these may not.
      if (/^(createSwap|begin|alarm|wake)$/.test(call)) witness.broken('no_call_throws', `${call}: ${error}`);
    },
    trace,
  });
  return { scenario, scheduler, chain, bridge, bitcoin, d1, host, witness, trace, state, wallClock };
}

/** The chain port with the witness at its door. */
const watched = (port: ChainPort, witness: Witness): ChainPort => ({
  ...port,
  send(wire) {
    witness.sending(readWire(wire).signature);
    return port.send(wire);
  },
});

const STOPS = `SELECT key, value FROM meta WHERE key IN ('frozen', 'paused') AND value <> ''`;

function signerOf(instance: Instance, state: State, witness: Witness): Signer {
  return {
    address: RESERVE,
    sign: (message) =>
      instance.cross('signer.sign', async () => {
        const signature = signatureOf(message);
        const stop = state.isLost ? 'its journal was lost' : instance.disk.exec(STOPS, [])[0]?.key;
        witness.signed(
          assemble(message, signature).signature,
          stop === undefined || stop === null ? undefined : String(stop),
        );
        return signature;
      }),
  };
}

async function within<T>(scheduler: Scheduler, work: Promise<T>, ms: number): Promise<T | undefined> {
  let cancel = (): void => undefined;
  const late = new Promise<undefined>((resolve) => {
    cancel = scheduler.after(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

const shown = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? `${member}` : member,
  )?.slice(0, 200) ?? 'undefined';
