/**
 * Rules of the custodian, each broken in one way. A simulator that does not detect them proves nothing about the code
 * that keeps the rules.
 * @module
 */
type Edit = { readonly file: string; readonly find: string; readonly replace: string };

export type BrokenRule = {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The test file that must detect it where few seeds do, or none can. Seeds judge a rule without one. */
  readonly test?: string;
};

const STATE_MACHINE = 'custody/kernel/state-machine.ts';
const EXECUTOR = 'custody/kernel/executor.ts';
const JOURNAL = 'custody/kernel/journal.ts';
const SPENDING_LIMITS = 'custody/kernel/spending-limits.ts';
const CREATE_SWAP = 'custody/swap/create-swap.ts';
const CUSTODIAN = 'custody/custodian.ts';
const CHAIN = 'custody/kernel/solana-view.ts';
const QUORUM = 'custody/kernel/quorum.ts';
const REFUNDS = 'custody/payments/refunds.ts';
const CLAIMS = 'custody/asry/claims.ts';
const CLAIM_RULES = 'custody/asry/claim-rules.ts';
const PAYOUTS = 'custody/asry/payouts.ts';
const MINT = 'custody/reserve/daily-mint.ts';
const CREATION = 'custody/tokens/creation-operation.ts';
const BOOKING = 'custody/payments/booking.ts';
const MATCHING = 'custody/payments/payment-matching.ts';
const REQUESTS = 'custody/payments/payment-requests.ts';
/** The test of the syncs before answers, which the simulation makes redundant. */
const DURABLE = 'test/custody/durable-answers.test.ts';
const WALK = 'custody/payments/treasury-walk.ts';
const WALK_TEST = 'test/custody/payments/treasury-walk.test.ts';
const SETTLEMENT = 'custody/swap/settlement.ts';
const RECONCILE = 'custody/kernel/reconcile.ts';
const COMMANDS = 'custody/kernel/operator-commands.ts';
const RESTORED_CLAIMS_TEST = 'test/custody/asry/restored-claims.test.ts';
const SPENDING_TEST = 'test/custody/kernel/spending-limits.test.ts';
const LIMITS_TEST = 'test/custody/limits.test.ts';
const COVERED_TEST = 'test/custody/kernel/executor-covered.test.ts';
const BEGIN = 'custody/kernel/begin-operation.ts';
const BOUNDS = 'custody/limits.ts';

export const BROKEN_RULES: readonly BrokenRule[] = [
  {
    name: 're-signs after a timeout',
    edits: [
      {
        file: STATE_MACHINE,
        find: `    case 'unseen': {\n`,
        replace: `    case 'unseen': {\n      if (op.looks > 6) return ended(op, 'expired', null, rules, now);\n`,
      },
    ],
  },
  {
    name: 'sends before it stores',
    edits: [
      {
        file: EXECUTOR,
        find: `    this.#store(op, kind, prepared, signed, balance);`,
        replace: `    await this.#p.chain.send(signed.wire);\n    this.#store(op, kind, prepared, signed, balance);`,
      },
    ],
  },
  {
    name: 'the height of one node is used with the status of another',
    edits: [
      {
        file: STATE_MACHINE,
        find: `  return new Set(views.filter(provesAbsence).map(({ node }) => node)).size >= quorum ? 'dead' : 'unseen';`,
        replace: `  void provesAbsence;
  return views.some((view) => view.finalizedHeight > (expiryHeight(signing, view.node) ?? 2n ** 60n)) &&
    views.some((view) => view.status === null)
    ? 'dead'
    : 'unseen';`,
      },
    ],
  },
  {
    name: 'accepts proof of absence from a node without history',
    edits: [
      {
        file: STATE_MACHINE,
        find: `      view.firstAvailableSlot <= witness.slot\n`,
        replace: `      view.firstAvailableSlot >= 0n\n`,
      },
    ],
    test: 'test/custody/kernel/state-machine-verdict.test.ts',
  },
  {
    name: 'the status is read before the height',
    edits: [
      {
        file: CHAIN,
        find: `  const { slot, blockHeight } = await node.epochInfo('finalized');
  const { slot: statusSlot, status } = await node.signatureStatus(signing.signature);`,
        replace: `  const { status } = await node.signatureStatus(signing.signature);
  const { slot, blockHeight } = await node.epochInfo('finalized');
  const statusSlot = slot;`,
      },
    ],
    test: 'test/custody/kernel/solana-view.test.ts',
  },
  {
    name: 'accepts a status that is older than the height',
    edits: [{ file: STATE_MACHINE, find: `      view.statusSlot >= view.finalizedSlot &&\n`, replace: '' }],
    test: 'test/custody/kernel/state-machine-verdict.test.ts',
  },
  {
    name: 'expiry is decided at a height that is not final',
    edits: [
      {
        file: CHAIN,
        find: `const { slot, blockHeight } = await node.epochInfo('finalized')`,
        replace: `const { slot, blockHeight } = await node.epochInfo('processed')`,
      },
    ],
    test: 'test/custody/kernel/solana-view.test.ts',
  },
  {
    name: 'a confirmed status counts as final',
    edits: [
      {
        file: STATE_MACHINE,
        find: `seen.filter((status) => status.commitment === 'finalized')`,
        replace: `seen.filter((status) => status.commitment !== 'processed')`,
      },
    ],
    test: 'test/custody/kernel/state-machine-verdict.test.ts',
  },
  {
    name: 'no check of the journal between signing and sending',
    edits: [
      {
        file: EXECUTOR,
        find: `    await this.#p.storage.sync();\n    const accepted`,
        replace: `    const accepted`,
      },
    ],
  },
  {
    name: 'limits are checked outside the critical section',
    edits: [
      {
        file: BEGIN,
        find: `    let balance: Balance;\n`,
        replace: `    const early = journal.counting(context.now());\n    let balance: Balance;\n`,
      },
      {
        file: BEGIN,
        find: `insert(context, kind, id, balance, decide));`,
        replace: `insert(context, kind, id, balance, decide, early));`,
      },
      {
        file: BEGIN,
        find: `  decide: () => Decision<Declined>,\n): Begun<Declined> | 'outdated' {`,
        replace: `  decide: () => Decision<Declined>,\n  early: ReturnType<Journal['counting']>,\n): Begun<Declined> | 'outdated' {`,
      },
      {
        file: BEGIN,
        find: `  const operations = journal.counting(now());\n`,
        replace: `  const operations = early;\n`,
      },
    ],
    test: 'test/custody/swap/create-swap.test.ts',
  },
  {
    name: 'a landing clears the unsettled amount',
    edits: [
      {
        file: STATE_MACHINE,
        find: `unsettled: rules.settles ? op.amount : NONE,`,
        replace: `unsettled: NONE,`,
      },
    ],
  },
  {
    name: 'a reservation is not released on failure',
    edits: [
      {
        file: STATE_MACHINE,
        find: `  detail: 'refused',\n  reserved: NONE,\n`,
        replace: `  detail: 'refused',\n`,
      },
    ],
  },
  {
    name: 'accepts a balance that is older than a released reservation',
    edits: [
      {
        file: JOURNAL,
        find: `const releasedSlot = (): bigint => BigInt(getMeta('released_slot') ?? 0);`,
        replace: `const releasedSlot = (): bigint => 0n;`,
      },
      {
        file: SPENDING_LIMITS,
        find: `    (most, op) => (op.releasedSlot !== null && op.releasedSlot > most ? op.releasedSlot : most),`,
        replace: `    (most) => most,`,
      },
    ],
    test: SPENDING_TEST,
  },
  {
    name: 'an idempotency key is not stored',
    edits: [
      {
        file: CREATE_SWAP,
        find: `swapId(request.key?.keyHash ?? this.#p.randomId())`,
        replace: `swapId(this.#p.randomId())`,
      },
    ],
  },
  {
    name: 'a deposit address may be paid twice',
    edits: [
      {
        file: EXECUTOR,
        find: `if (claims.some((name) => (journal.consumerOf(name) ?? op.id) !== op.id)) {`,
        replace: `if (claims.some((name) => name === '')) {`,
      },
    ],
  },
  {
    name: 'an output serves two swaps',
    edits: [
      {
        file: EXECUTOR,
        find: `const isTaken = (name: string) => (journal.consumerOf(name) ?? op.id) !== op.id;`,
        replace: `const isTaken = (name: string) => name === '';`,
      },
    ],
  },
  {
    name: 'the outbox drops changes made during a delivery',
    edits: [
      {
        file: JOURNAL,
        find: `'DELETE FROM outbox WHERE entity = ? AND id = ? AND revision <= ?'`,
        replace: `'DELETE FROM outbox WHERE entity = ? AND id = ? AND ? > 0'`,
      },
    ],
  },
  {
    name: 'the outbox drops rows before D1 has answered',
    edits: [
      {
        file: 'custody/kernel/outbox.ts',
        find: `    before = await p.mirror.apply(rows, mark);`,
        replace: `    journal.delivered(rows);\n    before = await p.mirror.apply(rows, mark);`,
      },
    ],
  },
  {
    name: 'the outbox is not idempotent: an old batch undoes a newer one',
    edits: [
      {
        file: 'custody/kernel/outbox.ts',
        find: `WHERE excluded.revision > operations.revision`,
        replace: `WHERE 1 = 1`,
      },
    ],
  },
  {
    name: 'rows are sent to D1 before they are durable',
    edits: [{ file: 'custody/kernel/outbox.ts', find: `  await p.storage.sync();\n`, replace: '' }],
  },
  {
    name: 'the alarm is not set again',
    edits: [
      {
        file: 'custody/kernel/background.ts',
        find: `    await storage.setAlarm(now() + SAFETY_MS);\n`,
        replace: ``,
      },
      {
        file: 'custody/kernel/background.ts',
        find: `    this.#ranAt = now();\n    await this.publish();`,
        replace: `    this.#ranAt = now();\n    await flushOutbox(this.#p);`,
      },
    ],
  },
  {
    name: 'a lost journal starts without being frozen',
    edits: [
      {
        file: 'custody/kernel/journal-integrity.ts',
        find: `  if (mirrored > p.journal.offered()) return frozenFor(p, 'journal_behind_mirror');\n`,
        replace: '',
      },
    ],
  },
  {
    name: 'an empty journal is accepted without a check of the chain',
    edits: [
      {
        file: 'custody/kernel/journal-integrity.ts',
        find: `p.journal.isEmpty() ? await lossOf(p) : undefined`,
        replace: `undefined as string | undefined`,
      },
    ],
    // Where a seed removes the journal, D1 has more than the rest of it.
    test: 'test/custody/kernel/journal-integrity.test.ts',
  },
  {
    name: 'a pause does not stop an operation in preparation',
    edits: [
      {
        file: EXECUTOR,
        find: `      const obstacle = this.#obstacle(op, cost, balance);`,
        replace: `      const found = this.#obstacle(op, cost, balance);\n      const obstacle = found?.reason.type === 'stopped' ? undefined : found;`,
      },
    ],
  },
  {
    name: 'SOL at a failed bridge counts as settled',
    edits: [
      {
        file: STATE_MACHINE,
        find: `unsettled: settlement.arrived ? NONE : op.unsettled,`,
        replace: `unsettled: NONE,`,
      },
    ],
  },
  {
    name: 'one node decides that a transaction is final',
    edits: [{ file: QUORUM, find: `Math.floor(nodes / 2) + 1`, replace: `1` }],
  },
  {
    name: 'one node proves expiry',
    edits: [
      {
        file: STATE_MACHINE,
        find: `.map(({ node }) => node)).size >= quorum ? 'dead'`,
        replace: `.map(({ node }) => node)).size >= 1 ? 'dead'`,
      },
    ],
    test: 'test/custody/kernel/state-machine-verdict.test.ts',
  },
  {
    name: 'one node says that an attempt failed',
    edits: [{ file: STATE_MACHINE, find: `rejections >= quorum`, replace: `rejections > 0` }],
    test: 'test/custody/kernel/state-machine-verdict.test.ts',
  },
  {
    name: 'a failure without a fee ends an attempt',
    edits: [
      { file: STATE_MACHINE, find: `failed && charged === true).length`, replace: `failed).length` },
      { file: STATE_MACHINE, find: `view.status?.charged === true`, replace: `view.status?.failed` },
    ],
  },
  {
    name: 'expiry needs neither the margin nor the lifetime of the blockhash',
    edits: [
      {
        file: STATE_MACHINE,
        find: `height + BLOCKHASH_LIFE + LIFE_MARGIN;`,
        replace: `height + 20n;`,
      },
    ],
    test: 'test/custody/kernel/state-machine-verdict.test.ts',
  },
  {
    name: 'a refund begins twice',
    edits: [
      {
        file: REFUNDS,
        find: `refund?.state !== 'due' || refund.changes !== asked.changes || refund.payer === null`,
        replace: `refund === undefined || refund.payer === null`,
      },
      {
        file: REFUNDS,
        find: `refundId(refund.id, refund.operations + 1);\n    const begun`,
        replace: `refundId(refund.id, (store.refund(refund.id)?.operations ?? 0) + 1);\n    const begun`,
      },
    ],
    test: 'test/custody/payments/refunds.test.ts',
  },
  {
    name: 'a refund is paid without a check of the chain',
    edits: [{ file: REFUNDS, find: `if (why !== undefined) return`, replace: `if (why === '') return` }],
    test: 'test/custody/payments/refunds.test.ts',
  },
  {
    name: 'a claim takes the whole reward for each part',
    edits: [{ file: CLAIM_RULES, find: `left: claim.left - part.atoms },`, replace: `left: claim.left },` }],
  },
  {
    name: 'a claim is paid again under the next name',
    edits: [
      {
        file: PAYOUTS,
        find: `if (operation.state !== 'done') {`,
        replace: `if (operation.state !== 'failed') {`,
      },
    ],
  },
  {
    name: 'the reward curve never advances',
    edits: [
      {
        file: 'custody/asry/claim-rules.ts',
        find: `const entitlement = entitlementOf(epoch, epoch.deposits, net);`,
        replace: `const entitlement = entitlementOf(epoch, epoch.deposits, net) * 2n;`,
      },
    ],
  },
  {
    name: 'the receiver is not the sender',
    edits: [
      {
        file: PAYOUTS,
        find: `        receiver: claim.sender,`,
        replace: `        receiver: p.reserveAddress,`,
      },
    ],
  },
  {
    name: 'the mint accepts one Bitcoin index',
    edits: [
      {
        file: 'custody/reserve/reserve-views.ts',
        find: `const quorum = Math.max(quorumOf(configured), 2);`,
        replace: `const quorum = 1;`,
      },
    ],
  },
  {
    name: 'the mint ignores the existing supply',
    edits: [{ file: MINT, find: `const atoms = covered - supply.atoms;`, replace: `const atoms = covered;` }],
  },
  {
    name: 'the mint counts deposits with too few confirmations',
    edits: [
      {
        file: 'custody/reserve/reserve-views.ts',
        find: `tip - height + 1 < depth && net > 0n`,
        replace: `tip - height + 1 < 0 && net > 0n`,
      },
    ],
  },
  {
    name: 'each run of the module may mint on the same day',
    edits: [
      {
        file: MINT,
        find: `log, drive } = this.#tools;\n    if (!this.#isDue()) return;`,
        replace: `log, drive } = this.#tools;\n    if (now() < mintDueAt(now())) return;`,
      },
      {
        file: MINT,
        find: `beginOperation(this.#tools, 'absr', mintId(day), `,
        replace: `beginOperation(this.#tools, 'absr', \`\${mintId(day)}:\${now()}\`, `,
      },
      {
        file: MINT,
        find: `if (id !== mintId(today) || lastDay > today) return 'day_over';
    return lastDay === today ? 'minted_today' : undefined;`,
        replace: `return id === today || lastDay === '-' ? 'day_over' : undefined;`,
      },
    ],
  },
  {
    name: 'swaps may use the operating float',
    edits: [
      {
        file: BOUNDS,
        find: `return floor + larger(operatingFloat, this.#sold().paid);`,
        replace: `return floor - larger(operatingFloat, this.#sold().paid);`,
      },
    ],
  },
  {
    name: 'the limit of an hour is not enforced',
    edits: [
      {
        file: BOUNDS,
        find: `limit.kind === kind)`,
        replace: `limit.kind === kind && limit.name !== 'hour')`,
      },
    ],
  },
  {
    name: 'the refunds of a day are not limited',
    edits: [
      {
        file: BOUNDS,
        find: `limit.kind === kind)`,
        replace: `limit.kind === kind && limit.name !== 'refunds_day')`,
      },
    ],
  },
  {
    name: 'the limit of a day is not enforced',
    edits: [
      {
        file: BOUNDS,
        find: `limit.kind === kind)`,
        replace: `limit.kind === kind && limit.name !== 'day')`,
      },
    ],
    test: LIMITS_TEST,
  },
  {
    name: 'the limit of one swap is not enforced',
    edits: [
      {
        file: BOUNDS,
        find: `limit.kind === kind)`,
        replace: `limit.kind === kind && limit.name !== 'operation')`,
      },
    ],
    test: LIMITS_TEST,
  },
  {
    name: 'unsettled SOL is not counted',
    edits: [
      {
        file: SPENDING_LIMITS,
        find: `return state === 'planned' ? amount : unsettled;`,
        replace: `return 0n;`,
      },
    ],
  },
  {
    name: 'the cost limit of a day is not enforced',
    edits: [
      {
        file: SPENDING_LIMITS,
        find: `      return cost;\n`,
        replace: `      return cost - cost;\n`,
      },
    ],
  },
  {
    name: 'what a bridge keeps of a return is no cost',
    test: 'test/custody/swap/refund.test.ts',
    edits: [
      {
        file: 'custody/swap/settlement.ts',
        find: `lamports(amount - credit > cost ? amount - credit : cost);`,
        replace: `lamports(amount - credit > cost ? cost : cost);`,
      },
    ],
  },
  {
    name: 'the payouts of a day are not limited',
    edits: [
      {
        file: BOUNDS,
        find: `limit.kind === kind)`,
        replace: `limit.kind === kind && limit.name !== 'payouts_day')`,
      },
    ],
  },
  {
    name: 'the creations of a day are not limited',
    edits: [
      {
        file: BOUNDS,
        find: `limit.kind === kind)`,
        replace: `limit.kind === kind && limit.name !== 'creations_day')`,
      },
    ],
  },
  {
    name: 'a window counts an operation from its plan, not from its signing',
    edits: [
      {
        file: SPENDING_LIMITS,
        find: `state === 'planned' ? Math.max(now, createdAt) : (signedAt ?? createdAt);`,
        replace: `state === 'planned' && now < 0 ? (signedAt ?? 0) : createdAt;`,
      },
      { file: JOURNAL, find: `      row.signedAt ?? row.createdAt,\n`, replace: `      row.createdAt,\n` },
      { file: JOURNAL, find: `    if (row.signedAt !== null)\n`, replace: `    if (row.signedAt === 0)\n` },
    ],
    test: COVERED_TEST,
  },
  {
    name: 'reservations of other kinds are not counted',
    edits: [
      {
        file: SPENDING_LIMITS,
        find: `lamports(balance.lamports - reservedLamports(operations) - keeps);`,
        replace: `lamports(balance.lamports - (reservedLamports([]) + keeps));`,
      },
    ],
    test: SPENDING_TEST,
  },
  {
    name: 'a creation is signed without a check of the balance',
    edits: [
      {
        file: EXECUTOR,
        find: `    if (balance === undefined) return undefined;`,
        replace: `    if (balance === undefined || cost === 0n) return undefined;`,
      },
    ],
    test: COVERED_TEST,
  },
  {
    name: 'a creation reserves nothing',
    test: 'test/custody/payments/payment-edges.test.ts',
    edits: [
      {
        file: CREATION,
        find: `reserved: lamports(cost), plan`,
        replace: `reserved: lamports(cost - cost), plan`,
      },
    ],
  },
  {
    name: 'an ended creation is not booked',
    edits: [
      {
        file: 'custody/payments/request-store.ts',
        find: `WHERE r.state = 'paid' AND o.due_at IS NULL`,
        replace: `WHERE r.state = 'paid' AND o.due_at IS NOT NULL`,
      },
    ],
  },
  {
    name: 'an overpayment is kept',
    edits: [
      {
        file: MATCHING,
        find: `excess: -missing };`,
        replace: `excess: missing - missing };`,
      },
    ],
  },
  {
    name: 'a second payment is kept',
    edits: [
      {
        file: REQUESTS,
        find: `      refunds.owe(request, payment, payment.lamports, effect.reason);\n`,
        replace: ``,
      },
    ],
  },
  {
    name: 'a partial payment completes the request',
    edits: [
      {
        file: MATCHING,
        find: `if (missing > 0n) return { type: 'part', request: counted };`,
        replace: `if (missing > BigInt(request.fee)) return { type: 'part', request: counted };`,
      },
    ],
  },
  {
    name: 'a partial payment is kept when its request expires',
    edits: [
      {
        file: REQUESTS,
        find: `storage.transaction(() => oweAll(save({ ...request, state: 'expired' }), 'underpaid')),`,
        replace: `storage.transaction(() => void save({ ...request, state: 'expired' })),`,
      },
    ],
  },
  {
    name: 'a payment completes any request with the same amount',
    edits: [
      {
        file: MATCHING,
        find: `if (referenced.length > 0) return referenced.length === 1 ? referenced[0] : 'several';`,
        replace: ``,
      },
    ],
  },
  {
    name: 'a refund goes to another account',
    edits: [
      {
        file: BOOKING,
        find: `return isPayer ? payer.account : null;`,
        replace: `return isPayer ? (accounts[1] ?? null) : null;`,
      },
    ],
  },
  {
    name: "a vault's payment is refunded to the member who signed it",
    edits: [
      { file: BOOKING, find: ` && payer.paid >= credit`, replace: `` },
      { file: BOOKING, find: `const losers = accounts.flatMap(`, replace: `const losers = signers.flatMap(` },
    ],
    test: WALK_TEST,
  },
  {
    name: 'any part that a bridge returns counts as the whole',
    edits: [
      {
        file: SETTLEMENT,
        find: `(owed - returned) * 10_000n <= owed * BigInt(ports.maxCostBps);`,
        replace: `returned > 0n && owed * BigInt(ports.maxCostBps) > 0n;`,
      },
    ],
    test: 'test/custody/swap/refund.test.ts',
  },
  {
    name: 'an operation of a lost journal is not held',
    edits: [
      {
        file: RECONCILE,
        find: `if (operation.state === 'planned' || operation.state === 'signed')`,
        replace: `if (operation.state === 'done')`,
      },
    ],
    test: 'test/custody/kernel/reconcile.test.ts',
  },
  {
    name: 'a payout owed by a lost journal is not held',
    edits: [
      {
        file: PAYOUTS,
        find: `if (claim && payout.state !== 'paid' && !isPaying)`,
        replace: `if (claim && payout.state === 'held' && !isPaying)`,
      },
    ],
    test: RESTORED_CLAIMS_TEST,
  },
  {
    name: 'a refund owed by a lost journal is not held',
    edits: [
      { file: REFUNDS, find: `if (!isPaying) save(`, replace: `if (!isPaying && refund.id === '') save(` },
    ],
    test: 'test/custody/payments/refunds.test.ts',
  },
  {
    name: 'what an unexplained transaction names is not blocked',
    edits: [
      {
        file: RECONCILE,
        find: `journal.block(memo, transaction.signature, now());`,
        replace: `journal.block('', memo, now());`,
      },
    ],
    test: RESTORED_CLAIMS_TEST,
  },
  {
    name: 'a debt and the open operation that paid it may both be retried',
    edits: [
      {
        file: RECONCILE,
        find: `(!isTerminal(operation) && !paying`,
        replace: `(operation.id === '' && !paying`,
      },
    ],
    test: RESTORED_CLAIMS_TEST,
  },
  {
    name: 'signing continues before the report is read',
    edits: [{ file: COMMANDS, find: `    journal.setMeta('paused', 'reconciled');\n`, replace: `` }],
    test: 'test/custody/kernel/restored-journal.test.ts',
  },
  {
    name: 'a restored epoch may stay behind its claims',
    edits: [
      {
        file: 'custody/asry/asry-store.ts',
        find: `if (epoch && epoch.deposits < claim.after) {`,
        replace: `if (epoch && epoch.deposits < 0n) {`,
      },
    ],
    test: RESTORED_CLAIMS_TEST,
  },
  {
    name: 'a listed transaction without a quorum is dropped',
    edits: [
      {
        file: BOOKING,
        find: `      if (reason === undefined) {\n        remember(signature);\n        return 'read';`,
        replace: `      if (reason === undefined || reason === 'absent') {\n        remember(signature);\n        return 'read';`,
      },
    ],
    test: WALK_TEST,
  },
  {
    name: 'a full page of the treasury leaves no gap',
    edits: [
      {
        file: WALK,
        find: `gaps: [{ before: (above ?? last).signature, end }, ...walk.gaps] });`,
        replace: `gaps: walk.gaps });`,
      },
    ],
    test: WALK_TEST,
  },
  {
    name: 'a known payment ends the walk',
    edits: [
      {
        file: WALK,
        find: `      if (isBelow(entry, end)) return { ...read, reached: true };`,
        replace: `      if (isBelow(entry, end) || p.booking.isKnown(entry.signature)) return { ...read, reached: true };`,
      },
    ],
  },
  {
    name: 'references are not checked',
    edits: [
      {
        file: 'custody/payments/payment-search.ts',
        find: `      await references.run(budget, by);\n`,
        replace: ``,
      },
    ],
    test: 'test/custody/payments/payment-edges.test.ts',
  },
  {
    name: 'a request expires before its payments are read',
    edits: [
      {
        file: REQUESTS,
        find: `changes.expire(Math.max(search.readUntil(), now() - DAY_MS), EXPIRE_BATCH);`,
        replace: `changes.expire(now(), EXPIRE_BATCH);`,
      },
    ],
    test: 'test/custody/payments/payment-edges.test.ts',
  },
  {
    name: 'rent is paid each time the account is closed',
    edits: [
      {
        file: PAYOUTS,
        find: `return openings.length > 0 || store.hasOpenedAccount(owner, now() - DAY_MS) ? 'done' : 'none';`,
        replace: `return 'none';`,
      },
    ],
  },
  {
    name: 'an epoch does not count its payouts',
    edits: [{ file: PAYOUTS, find: `paid: epoch.paid + payout.atoms,`, replace: `paid: epoch.paid,` }],
  },
  {
    name: 'a refund is not sent to D1',
    edits: [{ file: REFUNDS, find: `    mirrorRefund(journal, changed, now());\n`, replace: `` }],
  },
  {
    name: 'a payout is not sent to D1',
    edits: [{ file: PAYOUTS, find: `    mirrorClaim(journal, store, changed, now());\n`, replace: `` }],
  },
  {
    name: 'a repeated key begins another payout each time',
    edits: [
      { file: CLAIM_RULES, find: `  if (p.isRepeat) return { type: 'again' };\n`, replace: `` },
      { file: CLAIMS, find: `      if (replayed) return replayed;\n`, replace: `` },
    ],
  },
  {
    name: 'a row may be newer in D1 than its recorded delivery',
    edits: [
      {
        file: JOURNAL,
        find: `    p.setMeta('offered', String(mark));\n`,
        replace: ``,
      },
    ],
  },
  {
    name: 'tokens are sold without a check of the balance',
    edits: [
      {
        file: CUSTODIAN,
        find: `await this.#saleRefusal(request);`,
        replace: `request.client === '' ? await this.#saleRefusal(request) : undefined;`,
      },
    ],
    test: 'test/custody/custodian-sales.test.ts',
  },
  {
    name: 'a swap is answered before it is durable',
    edits: [
      {
        file: CREATE_SWAP,
        find: `    await storage.sync();\n    return decided;`,
        replace: `    return decided;`,
      },
    ],
    test: DURABLE,
  },
  {
    name: 'an operation is answered before it is durable',
    edits: [
      {
        file: BEGIN,
        find: `    if (begun.type === 'begun') await storage.sync();\n`,
        replace: ``,
      },
    ],
    test: DURABLE,
  },
  {
    name: 'a known operation is answered before it is durable',
    edits: [
      {
        file: BEGIN,
        find: `      await storage.sync();\n      return { type: 'known'`,
        replace: `      return { type: 'known'`,
      },
    ],
    test: DURABLE,
  },
  {
    name: 'a payment is answered before it is durable',
    edits: [
      {
        file: REQUESTS,
        find: `      await storage.sync();\n      return { type: 'confirmed'`,
        replace: `      return { type: 'confirmed'`,
      },
    ],
    test: DURABLE,
  },
  {
    name: 'a claim is answered before it is durable',
    edits: [
      {
        file: CLAIMS,
        find: `      await storage.sync();\n      return answer;\n    },\n\n    find:`,
        replace: `      return answer;\n    },\n\n    find:`,
      },
    ],
    test: DURABLE,
  },
  {
    name: 'a finished claim is answered before it is durable',
    edits: [{ file: CLAIMS, find: `      if (answer) await storage.sync();\n`, replace: `` }],
    test: DURABLE,
  },
  {
    name: "an operator's command is answered before it is durable",
    edits: [
      {
        file: CUSTODIAN,
        find: `    await tools.storage.sync();\n    await gate.verify();`,
        replace: `    await gate.verify();`,
      },
    ],
    test: DURABLE,
  },
  {
    name: 'own transfers earn a reward',
    edits: [
      {
        file: CLAIM_RULES,
        find: `  if (own === 'own_movement') return`,
        replace: `  if (own === undefined && own) return`,
      },
      { file: CLAIM_RULES, find: `  if (own) return refused(claimsPaused(own));\n`, replace: `` },
    ],
    test: 'test/custody/asry/claim-rules.test.ts',
  },
];
