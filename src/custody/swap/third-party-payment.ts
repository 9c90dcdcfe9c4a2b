/**
 * Reads the evidence for a third party's transaction and applies the transaction policy to it. A statement of
 * a single node or of the third party never counts alone. Tables and programs are read from every node; the
 * destination is read from the bridge itself.
 * @module
 */
import type { ThirdPartyOffer } from '../../bridges/route.ts';
import { encodeTransaction } from '../../chain/solana/message.ts';
import type { Lamports, Sats } from '../../core/amount.ts';
import type { OneClickStatus } from '../../providers/near-intents.ts';
import { failureReason, type SolanaNode } from '../../providers/solana-rpc.ts';
import type { Facts, SignedAt } from '../kernel/operation.ts';
import type { Log } from '../kernel/ports.ts';
import { succeeded } from '../kernel/quorum.ts';
import { type Blockhash, signedAtOf } from '../kernel/solana-view.ts';
import {
  type Deployments,
  deployedSlot,
  type ProgramMemory,
  programDataAddress,
  UPGRADEABLE,
} from '../policy/deployments.ts';
import { checkBytes, checkSwapPolicy, openTransaction, withLifetime } from '../policy/policy.ts';
import type { PolicyRefusal } from '../policy/refusal.ts';
import type { TableViews } from '../policy/resolved-instructions.ts';
import type { SimulationResult } from '../policy/simulation.ts';
import type { PolicyTerms } from '../policy/terms.ts';

export type PolicyNode = Pick<SolanaNode, 'accounts' | 'epoch' | 'simulateChange'>;

export type ThirdPartyPorts = {
  readonly terms: PolicyTerms;
  /** Pinned key of 1Click. */
  readonly quoteKey: string;
  /** At least two, with different operators. */
  readonly nodes: readonly PolicyNode[];
  /** The first node that answers. @throws AppError UPSTREAM_FAILED */
  first<T>(read: (node: PolicyNode) => Promise<T>): Promise<T>;
  /** 1Click's own answer. @throws AppError UPSTREAM_FAILED */
  nearStatus(depositAddress: string): Promise<OneClickStatus>;
  latestBlockhash(): Promise<Blockhash>;
  sleep(ms: number): Promise<void>;
  readonly now: () => number;
  readonly log: Log;
};

export type ApprovedPayment = {
  readonly ok: true;
  readonly message: Uint8Array;
  readonly signedAt: SignedAt;
  readonly minimumSats: Sats;
  /** Lamports that may leave. */
  readonly spend: bigint;
  readonly claims: readonly string[];
  readonly plan: Facts;
};

/**
 * @param order `floorSats` is the minimum output at an independent price. @throws AppError UPSTREAM_FAILED
 */
export type CheckThirdParty = (
  offer: ThirdPartyOffer,
  order: { readonly amount: Lamports; readonly floorSats: Sats },
) => Promise<ApprovedPayment | { readonly ok: false; readonly reason: string }>;

/** A deposit address may exist before its status does: retries, one second apart. */
const STATUS_RETRIES = 3;
const STATUS_RETRY_MS = 1_000;
/** Account type and slot at the start of a program's data; the code after them is not read. */
const DEPLOYMENT_HEAD = { offset: 0, length: 45 };

export function createThirdPartyCheck(p: ThirdPartyPorts, memory: ProgramMemory): CheckThirdParty {
  const { terms, log, now } = p;

  /** The views of all answering nodes; the policy needs two that agree. */
  const everyView = <T>(read: (node: PolicyNode) => Promise<T>): Promise<T[]> => succeeded(p.nodes.map(read));

  async function readTables(addresses: readonly string[]): Promise<TableViews> {
    if (addresses.length === 0) return new Map();
    const views = await everyView(
      async (node) => (await node.accounts([...addresses], 'finalized')).accounts,
    );
    return new Map(addresses.map((address, at) => [address, views.map((accounts) => accounts[at] ?? null)]));
  }

  async function readDeployments(): Promise<Deployments> {
    const asked = UPGRADEABLE.flatMap((program) => [program, programDataAddress(program)]);
    const views = await everyView(
      async (node) => (await node.accounts(asked, 'finalized', DEPLOYMENT_HEAD)).accounts,
    );
    return new Map(
      UPGRADEABLE.map((program, at) => {
        const [slot, ...others] = views.map((accounts) =>
          deployedSlot(program, accounts[2 * at] ?? null, accounts[2 * at + 1] ?? null),
        );
        const agree = others.length > 0 && others.every((other) => other === slot);
        return [program, { recorded: memory.recorded(program), current: agree ? (slot ?? null) : null }];
      }),
    );
  }

  /** Without signatures: a node that received a signed transaction could send it before it is stored. */
  async function simulate(unsigned: Uint8Array, keys: readonly string[]): Promise<SimulationResult> {
    const watched = [terms.reserveAddress, ...terms.ownAccounts];
    const wire = btoa(String.fromCharCode(...unsigned));
    return p.first(async (node) => {
      const before = (await node.accounts(watched, 'confirmed')).accounts;
      // A node returns at most as many accounts of a simulation as the transaction has.
      const parts = Array.from({ length: Math.ceil(watched.length / keys.length) }, (_, part) =>
        watched.slice(part * keys.length, (part + 1) * keys.length),
      );
      const runs = await Promise.all(parts.map((part) => node.simulateChange(wire, keys, part)));
      const after = runs.flatMap(({ accounts }) => accounts);
      return {
        error: runs.find(({ err }) => err !== null)?.err ?? null,
        accounts: new Map(
          watched.map((address, at) => [address, { before: before[at] ?? null, after: after[at] ?? null }]),
        ),
        inner: (runs[0]?.inner ?? []).map(({ instruction, program, accounts, data }) => ({
          instruction,
          call: {
            program,
            accounts: accounts.map((address) => ({ address, isSigner: false, isWritable: false })),
            data,
          },
        })),
      };
    });
  }

  async function confirmedByBridge(depositAddress: string): Promise<OneClickStatus | null> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await p.nearStatus(depositAddress);
      } catch (error) {
        // A statement by LI.FI never replaces it.
        if (failureReason(error) !== 'deposit_unknown' || tries >= STATUS_RETRIES) return null;
        await p.sleep(STATUS_RETRY_MS);
      }
    }
  }

  function refused({ check, reason, instruction }: PolicyRefusal, { quote }: ThirdPartyOffer) {
    const isAlarm = reason === 'program_redeployed' || reason === 'quote_signature';
    const place = instruction === undefined ? {} : { instruction };
    const level = isAlarm ? 'alarm' : 'warn';
    log({ level, event: 'swap_policy_refused', check, reason, ...place, tool: quote.tool, quote: quote.id });
    return { ok: false, reason } as const;
  }

  return async function checkThirdParty(offer, { amount, floorSats }) {
    const { quote } = offer;
    const { data } = quote.transactionRequest;
    const opened = openTransaction(data, terms.reserveAddress);
    if (!opened.ok) return refused(opened, offer);
    const [tables, deployments, epoch] = await Promise.all([
      readTables(opened.transaction.tables.map(({ table }) => table)),
      readDeployments(),
      p.first((node) => node.epoch('confirmed')),
    ]);
    const evidence = () => ({
      quote,
      data,
      order: { amount, floorSats, slippageBps: offer.slippageBps },
      terms,
      tables,
      deployments,
      epoch,
      ageMs: now() - offer.askedAt,
    });
    const bytes = checkBytes(evidence());
    if (!bytes.ok) return refused(bytes, offer);
    const { leg } = bytes.shape;
    const lifetime = await p.latestBlockhash();
    const [simulation, nearStatus] = await Promise.all([
      simulate(encodeTransaction(withLifetime(bytes.transaction, lifetime)), bytes.keys),
      leg.kind === 'transfer' ? confirmedByBridge(leg.to) : null,
    ]);
    const verdict = await checkSwapPolicy({
      ...evidence(),
      lifetime,
      simulation,
      nearStatus,
      quoteKey: p.quoteKey,
      now: now(),
    });
    if (!verdict.ok) return refused(verdict, offer);
    for (const [program, { current }] of deployments) {
      if (current !== null) memory.record(program, current);
    }
    const { message, minimumSats, spend, claims, depositAddress, tool, names } = verdict;
    return {
      ok: true,
      message,
      signedAt: signedAtOf(lifetime),
      minimumSats,
      spend,
      claims,
      plan: { tool, depositAddress, ...names },
    };
  };
}
