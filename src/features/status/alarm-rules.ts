/**
 * The conditions that alert the operator, as one table. Each rule names what the operator needs to act: ids, kinds,
 * reasons, nodes and sums.
 * @module
 */
import { formatAmount, SOL_DECIMALS } from '../../core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import type { Debt, OperatorView } from '../../custody/operator-api.ts';
import type { StatusReport } from './get-status.ts';

export type SolLevel = {
  /** Finalized lamports of the reserve; null if no node responded. */
  readonly balance: bigint | null;
  /** Lamports that always stay in the reserve, except for mints. */
  readonly floor: bigint;
};

export type AlarmFacts = {
  readonly status: StatusReport;
  /** Null when the custodian does not respond. */
  readonly view: OperatorView | null;
  readonly level: SolLevel;
  readonly nowMs: number;
};

export type Figures = Readonly<Record<string, string | number | null>>;

export type Raised = {
  /** One sentence for a person. */
  readonly reason: string;
  readonly figures?: Figures;
  /** When the condition began, ISO 8601; absent if only the alarm's row has this time. */
  readonly since?: string | null;
  /** The number of items that the alarm is about. The alarm is sent again if this number grows. */
  readonly count?: number;
  /** Their ids; absent if they have none or cannot be read. The alarm is sent again if one is new, even if the number is the same. */
  readonly ids?: readonly string[];
  /** Callers can raise this number, so an increase is reported at most once an hour. */
  readonly isOfCallers?: true;
};

/** `unread`: the condition cannot be read now, so an earlier alarm stays active. */
type Verdict = Raised | 'unread' | undefined;

/** If fewer quotes than this are left, estimates will soon be refused. */
const FEW_QUOTES = 12;
const MIRROR_PATIENCE_MS = 60_000;
/** How long every swap may be refused before an alarm: sources and limits usually recover by themselves. */
const REFUSAL_PATIENCE_MS = 10 * 60_000;

const sol = (atoms: bigint): string => formatAmount(atoms, SOL_DECIMALS);

/** A duration in words. */
export function ageText(ms: number): string {
  if (ms < HOUR_MS) return `${Math.max(Math.floor(ms / 60_000), 0)} min`;
  return ms < 2 * DAY_MS ? `${Math.floor(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} days`;
}

type Custody = NonNullable<StatusReport['custody']>;

/** A rule that reads the custodian's part of the status. */
const ofCustody =
  (rule: (custody: Custody, facts: AlarmFacts) => Verdict) =>
  (facts: AlarmFacts): Verdict =>
    facts.status.custody === null ? 'unread' : rule(facts.status.custody, facts);

/** A rule that reads the custodian's view for the operator. */
const ofView =
  (rule: (view: OperatorView, facts: AlarmFacts) => Verdict) =>
  (facts: AlarmFacts): Verdict =>
    facts.view === null ? 'unread' : rule(facts.view, facts);

const ofDebt = (name: Debt['name'], said: (debt: Debt) => string) =>
  ofView(({ debts }, { nowMs }) => {
    const debt = debts.find((each) => each.name === name);
    if (!debt || debt.awaitOperator === 0) return undefined;
    const { awaitOperator: count, atoms, oldestMs, examples } = debt;
    return {
      reason: said(debt),
      count,
      isOfCallers: true,
      figures: {
        count,
        sum: name === 'payout_owed' ? `${atoms} atoms of ASRY` : `${sol(atoms)} SOL`,
        oldest: oldestMs === null ? null : ageText(nowMs - oldestMs),
        examples: examples.map(({ id, reason }) => `${id} (${reason})`).join('; '),
      },
    };
  });

/** An alarm about an event that the custodian logs once an hour while its cause lasts. */
const ofRecent = (name: string, reason: string) =>
  ofView(({ recent }) => {
    const about = recent.flatMap((each) => (each.event === name ? [each.about] : []));
    return about.length === 0
      ? undefined
      : { reason, count: about.length, ...(about.join('') && { figures: { nodes: about.join(', ') } }) };
  });

const RULES = {
  status_unreadable: ({ status }) => {
    const unread = [
      ...(status.custody === null ? ['custodian'] : []),
      ...(status.database === null ? ['database'] : []),
    ];
    return unread.length > 0 ? { reason: `Not readable: ${unread.join(' and ')}.` } : undefined;
  },

  unexplained_spend: ofCustody(({ unexplainedSpends: spends }) =>
    spends.length === 0
      ? undefined
      : {
          reason:
            "No row explains transactions of the reserve's key, of its ASRY or of ABSR's mint. Someone else may have a key.",
          count: spends.length,
          ids: spends.map(({ signature }) => signature),
          figures: { spends: spendsText(spends) },
        },
  ),

  signing_frozen: ofCustody(({ frozen, openOperations }) =>
    frozen ? { reason: `Nothing is signed: ${frozen}.`, figures: { openOperations } } : undefined,
  ),

  operation_stuck: ofCustody(({ heldOperations: held }, { view, nowMs }) => {
    if (held === 0) return undefined;
    const named = (view?.open ?? []).filter(({ awaitsOperator }) => awaitsOperator);
    const [first] = named;
    return {
      reason: 'Operations await the operator.',
      count: held,
      ...(view && { ids: named.map(({ id }) => id) }),
      figures: {
        held,
        oldest: first ? ageText(nowMs - first.createdAtMs) : null,
        operations: named
          .slice(0, SHOWN)
          .map(
            ({ id, reason, state, lamports }) => `${id} (${reason ?? state}, ${sol(BigInt(lamports))} SOL)`,
          )
          .join('; '),
      },
    };
  }),

  work_failed: ofView(({ failing }) =>
    failing.length === 0
      ? undefined
      : {
          reason: 'Some work of the custodian keeps failing.',
          count: failing.length,
          ids: [...new Set(failing.map(({ work }) => work))],
          figures: {
            work: failing
              .slice(0, SHOWN)
              .map(
                ({ work, id, failures, reason }) =>
                  `${work} ${id}: ${failures} failures${reason === null ? '' : ` (${reason})`}`,
              )
              .join('; '),
          },
        },
  ),

  nodes_disagree: ofCustody(({ nodes: { disagreementAt: since } }, { view }) =>
    since === null
      ? undefined
      : {
          reason: 'Two Solana nodes returned different finalized data, so one of them is wrong.',
          since,
          figures: {
            nodes: view?.solana.disagreement?.nodes.join(', ') ?? null,
            question: view?.solana.disagreement?.question ?? null,
          },
        },
  ),

  quorum_missing: ofCustody(({ nodes: { quorumMissingSince: since, configured, quorum } }, { view }) =>
    since === null
      ? undefined
      : {
          reason: 'Too few Solana nodes agree on data that payments depend on.',
          since,
          figures: {
            configured,
            quorum,
            question: view?.solana.quorumMissing?.question ?? null,
            failed: view?.solana.quorumMissing?.nodes.join(', ') ?? null,
          },
        },
  ),

  source_down: ({ status: { upstreams, backing } }) => {
    const down = upstreams.filter(({ ok, needed }) => needed && !ok).map(({ name }) => name);
    if (down.length === 0 && backing.state !== 'unknown') return undefined;
    return {
      reason: `Required sources do not respond: ${down.join(', ') || 'the sources of reserve and ABSR supply'}.`,
      count: down.length,
      figures: { backing: backing.state },
    };
  },

  solana_stalled: ofCustody(({ nodes: { stalledSince: since, consensus } }) =>
    since === null ? undefined : { reason: 'Solana is not finalizing slots.', since, figures: { consensus } },
  ),

  swaps_refused: ofCustody(({ swapsRefused: refused, paused }, { nowMs }) =>
    refused === null || nowMs - Date.parse(refused.since) < REFUSAL_PATIENCE_MS
      ? undefined
      : {
          reason: paused
            ? `Every swap is refused, because of a pause (${paused}). \`ops resume\` ends an operator's pause.`
            : 'Every swap is refused, for a reason other than its amount.',
          since: refused.since,
          figures: { code: refused.code },
        },
  ),

  spends_unread: ofRecent(
    'spends_unread',
    'More transactions name the reserve than can be read. One of them may be a spend with a stolen key.',
  ),
  treasury_walk_stuck: ofRecent(
    'treasury_walk_stuck',
    'A node no longer lists a transaction of the treasury that it showed before. Requests expire up to a day late.',
  ),
  treasury_history_pruned: ofRecent(
    'treasury_history_pruned',
    "A node's history begins after the treasury's newest known transaction. Requests expire up to a day late.",
  ),
  treasury_walk_behind: ofRecent(
    'treasury_walk_behind',
    'Transactions arrive at the treasury faster than they are read.',
  ),

  mint_skipped: ofCustody(({ mint }) =>
    mint?.ok === false
      ? { reason: `The daily mint of ABSR waits: ${mint.reason}.`, figures: { day: mint.day } }
      : undefined,
  ),

  refund_due: ofDebt(
    'refund_due',
    () => 'Payments bought nothing and are owed back. `ops refund` pays each.',
  ),
  payment_unmatched: ofDebt(
    'payment_unmatched',
    () => 'Payments to the treasury matched no request. `ops refund` returns each.',
  ),
  payout_owed: ofDebt(
    'payout_owed',
    ({ count }) => `${count} rewards are owed, and some await the operator.`,
  ),

  supply_above_reserve: ({ status: { backing } }) => {
    if (backing.state === 'unknown') return 'unread';
    return backing.state === 'short'
      ? {
          reason: 'There is more ABSR than the Bitcoin reserve covers.',
          figures: { gapSatoshis: backing.gapSatoshis },
        }
      : undefined;
  },

  // The floor must stay in the reserve, so below twice the floor, a swap larger than the floor is refused.
  sol_low: ({ status, level: { balance, floor }, nowMs }) => {
    if (balance === null) return 'unread';
    return balance < 2n * floor
      ? {
          reason: 'The reserve has less SOL than twice RESERVE_FLOOR_SOL.',
          figures: {
            whereItWent: whereSolWent(status, nowMs),
            balanceSol: sol(balance),
            floorSol: sol(floor),
          },
        }
      : undefined;
  },

  quote_budget_low: ofCustody(({ quotes: { left, maximum } }) =>
    left < FEW_QUOTES
      ? {
          reason: 'Estimates have almost used up their two-hour quota of bridge quotes.',
          figures: { left, maximum },
        }
      : undefined,
  ),

  bridge_fees_over_cap: ofCustody(({ bridgeFault }) =>
    bridgeFault === 'fees_over_cap'
      ? { reason: 'The fees inside the bridge’s quotes exceed our cap, so every swap is refused.' }
      : undefined,
  ),

  bridge_rejects_request: ofCustody(({ bridgeFault }) =>
    bridgeFault === 'request_rejected'
      ? { reason: 'The bridge rejects a fixed field of our requests, so every swap is refused.' }
      : undefined,
  ),

  database_behind: ofCustody(({ mirrorBehindSince: since }, { view, nowMs }) =>
    since !== null && nowMs - Date.parse(since) > MIRROR_PATIENCE_MS
      ? { reason: 'D1 is not accepting changes.', since, figures: { waitingRows: view?.backlog ?? null } }
      : undefined,
  ),

  database_refuses_rows: ofCustody(({ mirrorRefusedRows: rows }) =>
    rows > 0
      ? {
          reason: 'D1 refuses rows while it accepts others. `ops republish` names them.',
          count: rows,
          figures: { rows },
        }
      : undefined,
  ),

  database_restored: ofCustody(({ mirrorRestored }) =>
    mirrorRestored
      ? { reason: 'D1 was restored to an older state. `ops republish` sends its rows again.' }
      : undefined,
  ),

  cron_missing: ({ status: { cron } }) => {
    if (cron === null) return 'unread';
    const late = cron.filter(({ ok }) => !ok);
    const said = late.map(
      ({ trigger, lastRunAt }) =>
        `the ${trigger} trigger ${lastRunAt === null ? 'has never run' : `last ran at ${lastRunAt}`}`,
    );
    return late.length > 0
      ? { reason: `Cron triggers are late: ${said.join(', ')}.`, count: late.length }
      : undefined;
  },
} as const satisfies Readonly<Record<string, (facts: AlarmFacts) => Verdict>>;

/** Maximum number of things that an alarm's message names. */
const SHOWN = 5;

export type AlarmName = keyof typeof RULES;

export const ALARMS = Object.keys(RULES) as readonly AlarmName[];

export type Alarm = Raised & { readonly name: AlarmName };

/** The raised alarms, and the names of alarms whose condition cannot be read. */
export function alarmsOf(facts: AlarmFacts): { readonly raised: Alarm[]; readonly unread: AlarmName[] } {
  const raised: Alarm[] = [];
  const unread: AlarmName[] = [];
  for (const name of ALARMS) {
    const verdict: Verdict = RULES[name](facts);
    if (verdict === 'unread') unread.push(name);
    else if (verdict !== undefined) raised.push({ name, ...verdict });
  }
  return { raised, unread };
}

/** Shown before the operator sends more SOL: after a theft, the new SOL would be stolen too. */
function whereSolWent({ custody, operations }: StatusReport, nowMs: number): string | null {
  if (custody !== null && custody.unexplainedSpends.length > 0)
    return `unexplained: ${spendsText(custody.unexplainedSpends)}; send no SOL`;
  const spent = new Map<string, bigint>();
  for (const { kind, amountLamports, signature, createdAt } of operations ?? [])
    if (signature !== null && amountLamports !== null && nowMs - Date.parse(createdAt) < DAY_MS)
      spent.set(kind, (spent.get(kind) ?? 0n) + BigInt(amountLamports));
  const sums = [...spent].map(([kind, lamports]) => `${kind} ${sol(lamports)}`);
  return operations === null
    ? null
    : `the newest ${operations.length} operations of the last day, without network fees and the rent of new tokens: ${sums.join(', ') || 'none'}; if this does not explain the balance, send no SOL`;
}

/** The amounts that left the reserve, and their receivers, in words. */
export const spendsText = (spends: Custody['unexplainedSpends']): string =>
  spends
    .map(({ signature, signedByReserve, moved }) => {
      const parts = moved.map(
        ({ mint, atoms, receiver }) =>
          `${mint === null ? `${sol(BigInt(atoms))} SOL` : `${atoms} atoms of ${mint}`} to ${receiver ?? 'nobody'}`,
      );
      const by = signedByReserve ? '' : ", without the reserve's key";
      return `${signature} (${parts.join(', ') || 'no balance changed'}${by})`;
    })
    .join('; ');
