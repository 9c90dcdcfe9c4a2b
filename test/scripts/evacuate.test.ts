import { expect, it } from 'vitest';
import { type EvacuationFacts, planEvacuation, planOfNodes } from '../../scripts/ops/evacuate.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';

const [RESERVE, WITNESS, COLD, MULTISIG, MINT] = [
  'So11111111111111111111111111111111111111112',
  '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q',
  'Vote111111111111111111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
];

const factsOf = (mintAuthority: string | null, over: Partial<EvacuationFacts> = {}): EvacuationFacts => ({
  reserve: RESERVE,
  to: COLD,
  absr: {
    address: MINT,
    pair: null,
    mint: {
      program: TOKEN_PROGRAM,
      mintAuthority,
      freezeAuthority: null,
      supply: 5n,
      decimals: 0,
      extensions: new Map(),
      hasUnreadBytes: false,
    },
  },
  witness: null,
  tokens: [{ asset: 'ASRY', mint: MINT, program: TOKEN_PROGRAM, decimals: 6, atoms: 2_500_000n }],
  coldSource: null,
  lamports: 9_000_000_000n,
  ...over,
});
const paired = (witness: string | null) => {
  const facts = factsOf(MULTISIG, { witness });
  return { ...facts, absr: facts.absr && { ...facts.absr, pair: [RESERVE, WITNESS] } };
};
const AUTHORITY = `Mint authority of ABSR (${MINT})`;
const REST = ['2.5 ASRY', expect.stringMatching(/^about 8\.99\d+ SOL/)];

it.each<[string, EvacuationFacts, unknown[], RegExp | undefined]>([
  ['the authority of one key, then tokens, then SOL', factsOf(RESERVE), [AUTHORITY, ...REST], undefined],
  ['the authority of two keys with both', paired(WITNESS), [AUTHORITY, ...REST], undefined],
  ['all but an authority whose other key is absent', paired(null), REST, /needs the witness/],
  ['all but an authority whose other key is another one', paired(COLD), REST, /needs the witness/],
  ['all but an authority that was moved before', factsOf(COLD), REST, /moved already/],
  ['all but an authority of somebody else', factsOf(WITNESS), REST, /does not control/],
  ['no SOL that only pays fees', factsOf(COLD, { tokens: [], lamports: 50_000n }), [], /moved already/],
  [
    'nothing of a cold account, whose allowance only its own key ends',
    factsOf(RESERVE, { coldSource: MULTISIG }),
    [AUTHORITY, ...REST],
    /spl-token revoke/,
  ],
])('an evacuation moves %s', (_what, facts, says, note) => {
  const { steps, notes } = planEvacuation(facts);
  expect(steps.map((step) => step.says)).toEqual(says);
  if (note === undefined) expect(notes).toEqual([]);
  else expect(notes.join()).toMatch(note);
  expect(steps.filter(({ isCosigned }) => isCosigned)).toHaveLength(facts.witness === WITNESS ? 1 : 0);
});

const HONEST = factsOf(RESERVE);
const EMPTY = factsOf(null, { absr: null, tokens: [], lamports: 0n });
const RICHER = { ...HONEST, tokens: HONEST.tokens.map((token) => ({ ...token, atoms: 9_000_000n })) };

it.each<[string, EvacuationFacts[], number, unknown[]]>([
  ['one of three nodes shows empty accounts', [EMPTY, HONEST, HONEST], 2, [AUTHORITY, ...REST]],
  ['one of three nodes shows more tokens', [RICHER, HONEST, HONEST], 2, [AUTHORITY, ...REST]],
  ['only one of three nodes responds', [HONEST], 2, [AUTHORITY, ...REST]],
  ['one of two nodes shows empty accounts', [EMPTY, HONEST], 2, [AUTHORITY, ...REST]],
  ['one of two nodes shows more tokens', [RICHER, HONEST], 2, [AUTHORITY, '9 ASRY', ...REST]],
])('an evacuation misses nothing if %s', (_what, facts, quorum, says) => {
  expect(planOfNodes(facts, quorum).steps.map((step) => step.says)).toEqual(says);
});
