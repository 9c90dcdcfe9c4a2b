/**
 * Moves everything that a stolen key of the reserve can move to `EVACUATION_ADDRESS`: the mint authority of ABSR and
 * tokens at once, then SOL. Runs on the operator's machine with the key's file; the service takes no part.
 */
import { address, type Instruction } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  AuthorityType,
  getSetAuthorityInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { createAtaIdempotent, findAta } from '../../src/chain/solana/token-instructions.ts';
import {
  decodeMint,
  decodeMultisig,
  decodeTokenAccount,
  type Mint,
} from '../../src/chain/solana/token-program.ts';
import { networkFee, signerAt } from '../../src/chain/solana/transaction.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { formatAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { stringifyJson } from '../../src/core/json.ts';
import { createSigner } from '../../src/custody/kernel/signer.ts';
import { quorumOf, settled, valuesOf } from '../../src/custody/nodes/quorum.ts';
import { within } from '../../src/http/within.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../../src/providers/solana-rpc.ts';
import type { Settings } from '../doctor/finding.ts';
import { reserveSigner } from './reserve-signer.ts';
import { type Prepared, sendSigned } from './send-signed.ts';

/** A thief competes for the next block, so each transaction pays 0.0001 SOL for priority. */
const BUDGET = { units: 100_000, unitPrice: 1_000_000n };

export type EvacuationFacts = {
  readonly reserve: string;
  /** Set in the configuration beforehand. */
  readonly to: string;
  /** The mint of ABSR, and the keys of its authority if that is a multisig account. */
  readonly absr: {
    readonly address: string;
    readonly mint: Mint;
    readonly pair: readonly string[] | null;
  } | null;
  /** The other key of the multisig, if its file was given. */
  readonly witness: string | null;
  /** Tokens in accounts of the reserve. */
  readonly tokens: readonly {
    readonly asset: string;
    readonly mint: string;
    readonly program: string;
    readonly decimals: number;
    readonly atoms: bigint;
  }[];
  /** The cold account that the reserve may spend from; null if none is configured. */
  readonly coldSource: string | null;
  readonly lamports: bigint;
};

export type EvacuationStep = {
  /** What it moves: the mint authority, the mint of a token, or SOL. */
  readonly moves: string;
  readonly says: string;
  readonly instructions: readonly Instruction[];
  /** Whether the witness signs too. */
  readonly isCosigned: boolean;
  /** SOL goes last, because it pays the fees of the others. */
  readonly isLast: boolean;
};

type Plan = { readonly steps: readonly EvacuationStep[]; readonly notes: readonly string[] };

/** What is moved, in the order of the transactions, and what the operator must do by other means. */
export function planEvacuation(facts: EvacuationFacts): Plan {
  const authority = authorityStep(facts);
  const moves = [
    ...('step' in authority ? [authority.step] : []),
    ...facts.tokens.map((token) => tokenStep(facts, token)),
  ];
  const fees = moves.reduce((sum, { isCosigned }) => sum + networkFee(BUDGET, isCosigned ? 2n : 1n), 0n);
  // Opening the token accounts of the receiver costs rent, so the amount of SOL is read again before it is sent.
  const left = facts.lamports - fees;
  const { coldSource, reserve } = facts;
  return {
    steps: [...moves, ...(left > networkFee(BUDGET) ? [solStep(facts, left)] : [])],
    notes: [
      ...('note' in authority ? [authority.note] : []),
      ...(coldSource === null
        ? []
        : [
            `Revoke the allowance with the cold key: spl-token revoke ${coldSource}. Until then ${reserve} can spend it.`,
          ]),
    ],
  };
}

/**
 * For each thing that is moved, the steps that a quorum of nodes shows. Without a quorum, the steps of every node: in an
 * emergency, a wrong step that fails is better than a right step that is missing.
 * @param facts of each node that responds
 */
export function planOfNodes(facts: readonly EvacuationFacts[], quorum: number): Plan {
  const plans = facts.map(planEvacuation);
  const moved = new Set(plans.flatMap(({ steps }) => steps.map(({ moves }) => moves)));
  const steps = [...moved].flatMap((thing) => {
    const shown = plans.map((plan) => plan.steps.find(({ moves }) => moves === thing));
    const groups = [...Map.groupBy(shown, (step) => (step ? stringifyJson(step) : '')).values()];
    const agreed = groups.find((group) => group.length >= quorum);
    return (agreed ? [agreed] : groups).flatMap(([step]) => step ?? []);
  });
  return { steps, notes: [...new Set(plans.flatMap(({ notes }) => notes))] };
}

function authorityStep({
  absr,
  reserve,
  witness,
  to,
}: EvacuationFacts): { step: EvacuationStep } | { note: string } {
  if (absr === null) return { note: 'No mint of ABSR is configured.' };
  const { mint, pair } = absr;
  const { mintAuthority } = mint;
  if (mintAuthority === to) return { note: 'The mint authority has been moved already.' };
  const isPair = pair?.includes(reserve) === true;
  if (mintAuthority === null || (mintAuthority !== reserve && !isPair))
    return { note: `The mint authority is ${mintAuthority ?? 'nobody'}, which this key does not control.` };
  const other = pair?.find((key) => key !== reserve);
  if (isPair && (witness === null || witness !== other))
    return {
      note: `The mint authority needs the witness ${other} too, so a thief of this key alone cannot move it. To move it, add --witness-settings FILE with its WITNESS_PRIVATE_KEY.`,
    };
  const signers = isPair && other !== undefined ? [reserve, other] : [reserve];
  const instruction = getSetAuthorityInstruction(
    {
      owned: address(absr.address),
      owner: isPair ? address(mintAuthority) : signerAt(reserve),
      authorityType: AuthorityType.MintTokens,
      newAuthority: address(to),
      multiSigners: isPair ? signers.map(signerAt) : [],
    },
    { programAddress: address(mint.program) },
  );
  const says = `Mint authority of ABSR (${absr.address})`;
  return {
    step: { moves: 'authority', says, instructions: [instruction], isCosigned: isPair, isLast: false },
  };
}

function tokenStep(
  { reserve, to }: EvacuationFacts,
  token: EvacuationFacts['tokens'][number],
): EvacuationStep {
  const { asset, mint, program, decimals, atoms } = token;
  const transfer = getTransferCheckedInstruction(
    {
      source: findAta(reserve, mint, program),
      mint: address(mint),
      destination: findAta(to, mint, program),
      authority: signerAt(reserve),
      amount: atoms,
      decimals,
    },
    { programAddress: address(program) },
  );
  return {
    moves: mint,
    says: `${formatAmount(atoms, decimals)} ${asset}`,
    instructions: [createAtaIdempotent({ payer: reserve, owner: to, mint, program }), transfer],
    isCosigned: false,
    isLast: false,
  };
}

const solStep = ({ reserve, to }: EvacuationFacts, lamports: bigint): EvacuationStep => {
  const amount = lamports - networkFee(BUDGET);
  return {
    moves: 'SOL',
    says: `about ${formatAmount(amount, SOL_DECIMALS)} SOL, all that the fees leave`,
    instructions: [
      getTransferSolInstruction({ source: signerAt(reserve), destination: address(to), amount }),
    ],
    isCosigned: false,
    isLast: true,
  };
};

type Keys = Pick<EvacuationFacts, 'reserve' | 'to' | 'witness'>;

type Given = {
  readonly settings: Settings;
  /** Settings of the witness; undefined without its file. */
  readonly witness: Settings | undefined;
  readonly send: boolean;
};

/**
 * Shows the evacuation, and sends it if asked to. A step that fails stops none of the others.
 * @param print shows one line
 * @throws Error with a text for the operator
 */
export async function evacuate(
  { settings, witness, send }: Given,
  print: (line: string) => void,
): Promise<void> {
  const config = readConfig(settings);
  const { EVACUATION_ADDRESS: to } = config;
  if (to === undefined) throw new Error('EVACUATION_ADDRESS must be set in the settings.');
  const reserve = reserveSigner(settings);
  if (to === reserve.address) throw new Error('EVACUATION_ADDRESS is the reserve itself.');
  const other = witness?.WITNESS_PRIVATE_KEY
    ? createSigner(witness.WITNESS_PRIVATE_KEY, 'WITNESS_PRIVATE_KEY')
    : undefined;
  const rpc = createSolanaRpc({ urls: config.SOLANA_RPC_URL, fetch: (url, init) => fetch(url, init) });
  const own = { reserve: reserve.address, to, witness: other?.address ?? null };
  const { steps, notes } = await readPlan(rpc, config, own);
  print(`From ${reserve.address}\nTo   ${to} (EVACUATION_ADDRESS)`);
  for (const [at, { says }] of steps.entries()) print(`${at + 1}. ${says}`);
  for (const note of notes) print(note);
  if (steps.length === 0) return print('Nothing is left to move.');
  if (!send) return print('Nothing was sent. Repeat the command with --send to send it.');
  const keys = { payer: reserve, others: other ? [other] : [] };
  const failed = await sendAll(
    rpc,
    steps.filter(({ isLast }) => !isLast),
    keys,
    print,
  );
  // The balance after the fees and rents of the steps before.
  const last = (await readPlan(rpc, config, own)).steps.filter(({ isLast }) => isLast);
  failed.push(...(await sendAll(rpc, last, keys, print)));
  if (failed.length > 0) throw new Error(`Not moved: ${failed.join('; ')}. Repeat the command.`);
  print('Done. Everything that this key controls has been moved.');
}

/**
 * Sends all steps at once, because a thief does not wait either.
 * @returns what could not be moved
 */
async function sendAll(
  rpc: SolanaRpc,
  steps: readonly EvacuationStep[],
  { payer, others }: Pick<Prepared, 'payer' | 'others'>,
  print: (line: string) => void,
): Promise<string[]> {
  const transactions = steps.map(({ says, instructions, isCosigned }) => {
    return { says, payer, others: isCosigned ? others : [], budget: BUDGET, instructions };
  });
  const failed = await sendSigned(rpc, transactions, ({ says }, signature) => print(`${says}: ${signature}`));
  return [...failed].map(
    ([{ says }, error]) => `${says} (${error instanceof Error ? error.message : String(error)})`,
  );
}

/** @throws the failure of the first node when none responds */
async function readPlan(rpc: SolanaRpc, config: Config, keys: Keys): Promise<Plan> {
  const quorum = quorumOf(rpc.nodes.length);
  const calls = rpc.nodes.map((node) => readFacts(node, config, keys));
  const reads = await settled(calls, quorum, within);
  const facts = valuesOf(reads);
  const [failure] = reads.flatMap((read) => (read.status === 'rejected' ? [read.reason] : []));
  if (facts.length === 0) throw failure ?? new Error('SOLANA_RPC_URL must be set.');
  return planOfNodes(facts, quorum);
}

async function readFacts(node: SolanaNode, config: Config, keys: Keys): Promise<EvacuationFacts> {
  // Nodes finalize a step at different times. Once one of them has, all others have confirmed it.
  const read = async (addresses: readonly string[]) => (await node.accounts(addresses, 'confirmed')).accounts;
  const known = Object.entries({
    ABSR: config.ABSR_MINT_ADDRESS,
    ASRY: config.ASRY_MINT_ADDRESS,
    ...config.DOLLAR_MINTS,
  }).flatMap(([asset, mint]) => (mint === undefined ? [] : [{ asset, mint }]));
  const [own, ...accounts] = await read([keys.reserve, ...known.map(({ mint }) => mint)]);
  const mints = known.flatMap(({ asset, mint }, at) => {
    const account = accounts[at];
    const decoded = account && decodeMint(account.owner, account.data);
    return decoded ? [{ asset, mint, decoded }] : [];
  });
  const held = await read(mints.map(({ mint, decoded }) => findAta(keys.reserve, mint, decoded.program)));
  const tokens = mints.flatMap(({ asset, mint, decoded: { program, decimals } }, at) => {
    const account = held[at];
    const atoms = (account && decodeTokenAccount(account.owner, account.data)?.atoms) ?? 0n;
    return atoms > 0n ? [{ asset, mint, program, decimals, atoms }] : [];
  });
  const absr = mints.find(({ asset }) => asset === 'ABSR');
  const authority = absr?.decoded.mintAuthority ?? null;
  const [multisig] = authority === null || authority === keys.reserve ? [] : await read([authority]);
  const pair = multisig ? (decodeMultisig(multisig.owner, multisig.data)?.signers ?? null) : null;
  return {
    ...keys,
    absr: absr ? { address: absr.mint, mint: absr.decoded, pair } : null,
    tokens,
    coldSource: config.ASRY_SOURCE_ACCOUNT ?? null,
    lamports: own?.lamports ?? 0n,
  };
}
