/**
 * A thief has the custodian's hot key, and one node and one Bitcoin index of each side. The thief asks the mint witness for
 * anything at any time. The witness is the real code; it crashes and restarts. The custodian goes on minting.
 * @module
 */
import { base64 } from '@scure/base';
import { AccountRole, address } from '@solana/web3.js';
import { mintTo } from '../../src/chain/solana/token-instructions.ts';
import { mintMessage, type TokenMint, tokenTransferMessage } from '../../src/chain/solana/token-messages.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { compileMessage, signedTransaction } from '../../src/chain/solana/transaction.ts';
import { decideMint } from '../../src/custody/reserve/mint-decision.ts';
import { MINT_CONFIRMATIONS, reserveViews, supplyViews } from '../../src/custody/reserve/reserve-views.ts';
import type { Entry } from './ledger.ts';
import type { Production } from './production.ts';
import type { SeedResult } from './run-seed.ts';
import { createMintWitness, type MintWitness, modelSignatures, unlimited } from './thief-witness.ts';
import {
  BITCOIN_ADDRESS,
  CUSTODIAN,
  createThiefWorld,
  DECIMALS,
  SCALE,
  STRANGER,
  signatureBy,
  TERMS,
  type ThiefWorld,
  WITNESS,
} from './thief-world.ts';
import { ataOf, blockhashOf } from './transactions.ts';
import type { Violation } from './witness.ts';
import type { Trace } from './world.ts';

const U64_MAX = 2n ** 64n - 1n;
const UNSIGNED = new Uint8Array(64);
/** Virtual milliseconds of the thief's work, and the longest time until an honest mint must follow it. */
const WORK_MS = 100_000;
const PATIENCE_MS = 400_000;

/** A transaction that the custodian's key has signed, for the witness's signature. */
type Request = { readonly message: Uint8Array; readonly own: Uint8Array; readonly isMint: boolean };

type Run = {
  readonly world: ThiefWorld;
  readonly witness: MintWitness;
  /** Ids of the transactions that the witness has signed, in order. */
  readonly signed: string[];
  readonly requests: Request[];
  broken(invariant: string, detail: string): void;
  count(name: string): void;
  trace: Trace;
};

/** @param hasWitness whether the mint authority needs the witness's signature */
export async function runThief(
  seed: number,
  production: Production,
  trace: Trace,
  hasWitness = true,
): Promise<SeedResult> {
  const violations: Violation[] = [];
  const counts: Record<string, number> = {};
  const signed: string[] = [];
  const count = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const broken = (invariant: string, detail: string) => void violations.push({ invariant, detail });
  const world = createThiefWorld(seed, production, {
    hasWitness,
    onLanding({ transaction: { signature }, failed }: Entry) {
      if (failed) return;
      count('mints that landed');
      const [supply, cover] = [world.supply(), world.bitcoin.settled(MINT_CONFIRMATIONS) * SCALE];
      trace(() => `chain: ${signature.slice(0, 8)} lands, supply ${supply}, covered ${cover}`);
      if (supply > cover) broken('covered_supply', `supply ${supply} where the sats cover ${cover}`);
      const at = signed.indexOf(signature);
      if (hasWitness && at !== signed.length - 1)
        broken('one_at_a_time', `${signature} landed after the witness had signed the next one`);
    },
  });
  const run: Run = {
    world,
    witness: createMintWitness(world, count),
    signed,
    requests: [],
    broken,
    count,
    trace,
  };
  const restore = modelSignatures();
  try {
    await play(run);
  } finally {
    restore();
  }
  return { seed, violations, counts };
}

async function play(run: Run): Promise<void> {
  const { world, broken } = run;
  const { scheduler } = world;
  const isOver = { ofThief: false, ofAll: false };
  const fail = (error: unknown) =>
    broken('no_error', error instanceof Error ? String(error.stack) : String(error));
  const loop = async (pause: number, isDone: () => boolean, act: () => Promise<void>): Promise<void> => {
    while (!isDone()) {
      await scheduler.sleep(world.random.between(1, pause));
      await act();
    }
  };
  for (let payment = 0; payment < 3; payment++) receive(world);
  // Two loops: the thief does two things at the same moment.
  for (const pause of [6_000, 12_000])
    void loop(
      pause,
      () => isOver.ofThief,
      () => steal(run),
    ).catch(fail);
  void loop(
    45_000,
    () => isOver.ofThief,
    () => mintOfTheDay(run),
  ).catch(fail);
  scheduler.after(WORK_MS, () => {
    isOver.ofThief = true;
    world.calmDown();
    void follow(run)
      .catch(fail)
      .finally(() => {
        isOver.ofAll = true;
      });
  });
  await scheduler.run(WORK_MS + PATIENCE_MS, () => isOver.ofAll);
  if (!isOver.ofAll)
    broken('wedged', 'the witness signs no covered mint although its honest sources respond');
}

/** Sats arrive; the next covered mint is signed and lands. The thief's sources lie on. */
async function follow(run: Run): Promise<void> {
  const { world } = run;
  world.bitcoin.pay([{ address: BITCOIN_ADDRESS, value: 20_000n }], 1_000);
  await world.scheduler.sleep(110_000);
  const before = world.supply();
  while (world.supply() === before) {
    await mintOfTheDay(run);
    await world.scheduler.sleep(6_000);
  }
}

/** The honest custodian: its own sources decide the amount, of which the thief controls one node and one index. */
async function mintOfTheDay(run: Run): Promise<void> {
  const { nodes, indexes } = run.world.custodianSide;
  const sources = {
    nodes,
    indexes,
    bitcoinAddress: BITCOIN_ADDRESS,
    solanaAddress: CUSTODIAN,
    absrMint: TERMS.mint,
  };
  const [reserves, supplies] = await Promise.all([
    reserveViews(sources, MINT_CONFIRMATIONS, unlimited),
    supplyViews(sources, unlimited),
  ]);
  const decision = decideMint({
    reserves,
    supplies,
    nodes: nodes.length,
    indexes: indexes.length,
    authority: run.world.hasWitness ? TERMS.multisig.address : CUSTODIAN,
    // The thief's node may claim that the mint before has expired or never was.
    earlier: { open: false, last: null },
  });
  run.count(`custodian: ${decision.verdict === 'mint' ? 'mint' : decision.reason}`);
  if (decision.verdict === 'mint')
    await mint(run, mintOf(run, { atoms: decision.atoms, memo: 'proof:aa' }, 1));
}

type Act = (run: Run) => Promise<void>;
const ACTS: readonly (readonly [string, Act])[] = [
  ['a mint', (run) => mint(run, anyMint(run))],
  ['a mint', (run) => mint(run, anyMint(run))],
  ['a covered mint', (run) => mint(run, coveredMint(run))],
  ['a covered mint', (run) => mint(run, coveredMint(run))],
  ['two covered mints at once', twins],
  [
    'a replay',
    async (run) => mint(run, run.requests.length > 0 ? run.world.random.pick(run.requests) : anyMint(run)),
  ],
  ['an altered request', async (run) => mint(run, altered(run))],
  ['a foreign request', async (run) => mint(run, foreign(run))],
  ['half a signature', async (run) => halfSigned(run)],
  ['a restart', async ({ witness }) => witness.restart()],
  [
    'a crash',
    async ({ witness, world }) => witness.crashNext(world.random.pick(['before', 'after', 'response'])),
  ],
  ['income', async ({ world }) => receive(world)],
  // Shallower than the depth of a mint.
  [
    'a reorganization',
    async ({ world }) => world.bitcoin.reorg(world.random.between(1, MINT_CONFIRMATIONS - 1)),
  ],
];

function receive({ bitcoin, random }: ThiefWorld): void {
  const value = BigInt(random.between(1, 50_000));
  bitcoin.pay([{ address: BITCOIN_ADDRESS, value }], random.between(1_000, 60_000));
}

async function steal(run: Run): Promise<void> {
  const [name, act] = run.world.random.pick(ACTS);
  run.count(`thief: ${name}`);
  run.trace(() => `thief: ${name}`);
  await act(run);
}

/** Asks the witness, and brings to the chain what it has signed. */
async function mint(run: Run, request: Request): Promise<void> {
  const { world, witness, signed, requests, broken, count } = run;
  const { message, own } = request;
  requests.push(request);
  if (!world.hasWitness) return bring(run, signedTransaction(message, [own]).wire);
  const { wire, signature } = signedTransaction(message, [own, UNSIGNED]);
  const answer = await witness.cosign(base64.encode(wire));
  count(`witness: ${typeof answer === 'string' ? answer : 'signed'}`);
  run.trace(() => `witness: ${signature.slice(0, 8)} ${typeof answer === 'string' ? answer : 'signed'}`);
  if (typeof answer === 'string') return;
  if (!request.isMint) broken('only_mints', `the witness signed ${base64.encode(message)}`);
  if (signed.includes(signature)) broken('one_at_a_time', `the witness signed ${signature} twice`);
  signed.push(signature);
  return bring(run, signedTransaction(message, [own, answer]).wire);
}

/** Sends now, or as late as possible, and more than once. */
async function bring({ world, count }: Run, wire: Uint8Array): Promise<void> {
  const { random, scheduler } = world;
  for (const wait of random.pick([[0], [0, 1_000], [0, 2_500], [3_400, 4_000], [3_900, 4_100]]))
    scheduler.after(wait, () => count(world.submit(wire) ? 'sent' : 'refused by the chain'));
}

function room({ world }: Run): bigint {
  const left = world.bitcoin.settled(MINT_CONFIRMATIONS) * SCALE - world.supply();
  return left > 0n ? left : 0n;
}

const coveredMint = (run: Run): Request =>
  mintOf(run, { atoms: room(run) }, run.world.random.pick([1, 3, 40]));

function anyMint(run: Run): Request {
  const { random, bitcoin } = run.world;
  const left = room(run);
  const unsettled = bitcoin.settled(0) * SCALE;
  const atoms = random.pick([left, left / 2n, left + 1n, 2n * left, 1n, 0n, unsettled, 40_000n, U64_MAX]);
  return mintOf(run, { atoms }, random.pick([1, 3, 12, 40, 60, 140, 160]));
}

/** Two mints that are covered alone, and together exceed the reserve. */
async function twins(run: Run): Promise<void> {
  const atoms = room(run);
  const [one, other] = [mintOf(run, { atoms }, 1), mintOf(run, { atoms: atoms > 0n ? atoms - 1n : 1n }, 2)];
  await Promise.all([mint(run, one), mint(run, other)]);
}

/** @param age slots since the block of its blockhash */
function mintOf({ world }: Run, change: Partial<TokenMint>, age: number): Request {
  const { ledger, hasWitness } = world;
  const born = ledger.blockAt(ledger.tip() - age, ledger.tip());
  const base = { payer: CUSTODIAN, owner: TERMS.owner, mint: TERMS.mint, program: TOKEN_PROGRAM };
  const { multisig } = TERMS;
  const message = mintMessage(
    { ...base, ...(hasWitness ? { multisig } : {}), atoms: 1n, decimals: DECIMALS, ...change },
    { blockhash: blockhashOf(born) },
  );
  return signedByThief(message, change.owner === undefined && change.mint === undefined);
}

const signedByThief = (message: Uint8Array, isMint: boolean): Request => ({
  message,
  own: signatureBy(CUSTODIAN, message),
  isMint,
});

/** The bytes or the signature changed on the way. */
function altered(run: Run): Request {
  const { random } = run.world;
  const { message, own } = anyMint(run);
  const bytes = Uint8Array.from(message);
  const at = random.between(0, bytes.length - 1);
  bytes[at] = ((bytes[at] ?? 0) + random.between(1, 255)) % 256;
  const kind = random.pick(['bytes', 'resigned', 'signature'] as const);
  if (kind === 'signature') return { message, own: signatureBy(STRANGER, message), isMint: false };
  // A changed amount, memo or blockhash that the thief signs again is a request like any other.
  return kind === 'bytes' ? { message: bytes, own, isMint: false } : signedByThief(bytes, true);
}

/** Signed by the custodian's key, and no mint of ABSR to the treasury. */
function foreign(run: Run): Request {
  const { random, ledger } = run.world;
  const lifetime = { blockhash: blockhashOf(ledger.blockAt(ledger.tip() - 1, ledger.tip())) };
  const { mint: token, multisig } = TERMS;
  const signers = [CUSTODIAN, WITNESS];
  const extra = mintTo({
    mint: token,
    program: TOKEN_PROGRAM,
    account: ataOf(TERMS.owner, token),
    authority: multisig.address,
    signers,
    atoms: room(run),
    decimals: DECIMALS,
  });
  const setAuthority = {
    programAddress: address(TOKEN_PROGRAM),
    accounts: [
      { address: address(token), role: AccountRole.WRITABLE },
      { address: address(multisig.address), role: AccountRole.READONLY },
      ...signers.map((one) => ({ address: address(one), role: AccountRole.READONLY_SIGNER })),
    ],
    data: Uint8Array.of(6, 0, 1, ...new Uint8Array(32).fill(3)),
  };
  const budget = { units: 160_000, unitPrice: 10_000n };
  const transfer = { from: CUSTODIAN, to: STRANGER, mint: token, program: TOKEN_PROGRAM, atoms: 1n };
  return random.pick([
    () => mintOf(run, { owner: STRANGER }, 1),
    () => mintOf(run, { mint: STRANGER }, 1),
    () => signedByThief(compileMessage(CUSTODIAN, lifetime, budget, [setAuthority]), false),
    () => signedByThief(compileMessage(CUSTODIAN, lifetime, budget, [extra, extra]), false),
    () => signedByThief(compileMessage(CUSTODIAN, lifetime, budget, [extra, setAuthority]), false),
    () =>
      signedByThief(
        tokenTransferMessage({ ...transfer, decimals: DECIMALS, memo: 'm', createAccount: true }, lifetime),
        false,
      ),
  ])();
}

/** The chain gets the custodian's signature alone, or twice, or as the only authority. */
function halfSigned(run: Run): void {
  const { world, count } = run;
  if (!world.hasWitness) return;
  const pair = coveredMint(run);
  const single = mintOf(run, { atoms: room(run), multisig: undefined }, 1);
  const wire = world.random.pick([
    () => signedTransaction(pair.message, [pair.own, UNSIGNED]).wire,
    () => signedTransaction(pair.message, [pair.own, pair.own]).wire,
    () => signedTransaction(single.message, [single.own]).wire,
  ])();
  count(world.submit(wire) ? 'half-signed and accepted' : 'refused by the chain');
}
