import { expect } from 'vitest';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { sats } from '../../src/core/amount.ts';
import { decideCosignature, type LastSigned, type MintView } from '../../src/witness/decision.ts';
import { eachScene } from '../kit/scenes.ts';

/** A node's view as its scene writes it: `name [member=value]`, by default of a supply of 400 sats at a height of 1,002. */
function viewOf(text: string): MintView {
  const [node = '', ...words] = text.split(' ');
  const { authority, ...given } = Object.fromEntries(words.map((word) => word.split('=')));
  const of = (name: string, standard: bigint) => BigInt(given[name] ?? standard);
  return {
    node,
    finalizedHeight: of('final', 1_000n),
    program: TOKEN_PROGRAM,
    authority: authority === 'none' ? null : (authority ?? 'multisig'),
    supply: of('supply', 40_000n),
    decimals: 2,
    heightAtBlockhash: given.height === 'none' ? null : of('height', 1_002n),
  };
}

/** The transaction that was signed last, as `node=height` of each node at its signing. */
const lastOf = (text: string): LastSigned | undefined =>
  text === ''
    ? undefined
    : {
        signature: 's',
        atoms: '1',
        at: 0,
        heights: Object.fromEntries(text.split(' ').map((each) => each.split('=') as [string, string])),
      };

/** The result of a request for 100 sats, whose scene may change `atoms`, `decimals`, `program` and the `reserve`. */
function decide(asked: string, views: string, last: string): string {
  const change = Object.fromEntries(asked.split(' ').map((word) => word.split('=')));
  const result = decideCosignature({
    request: {
      program: change.program === '2022' ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM,
      atoms: BigInt(change.atoms ?? 10_000),
      decimals: Number(change.decimals ?? 2),
    },
    authority: 'multisig',
    last: lastOf(last),
    views: views.split(', ').map(viewOf),
    nodes: 3,
    reserve:
      change.reserve === 'disagree'
        ? { ok: false, reason: 'sources_disagree' }
        : { ok: true, sats: sats(BigInt(change.reserve ?? 500)), tip: { height: 900_000, hash: 'aa' } },
  });
  if (result.type === 'refuse') return result.refusal;
  return `signed ${Object.entries(result.heights)
    .map(([node, height]) => `${node}=${height}`)
    .join(' ')}`;
}

const ALL = 'signed a=1002 b=1002 c=1002';
eachScene(`
  signs a mint when supply and amount together equal the confirmed sats        |                | a, b, c | | ${ALL}
  refuses a mint of one atom more than the confirmed sats                      | atoms=10001    | a, b, c | | amount_above_reserve
  refuses a mint with its own code when the supply alone exceeds the reserve   | reserve=399    | a, b, c | | supply_above_reserve
  refuses a mint when the supply alone equals the reserve                      | reserve=400    | a, b, c | | amount_above_reserve
  refuses a mint while the Bitcoin indexes do not agree                        | reserve=disagree | a, b, c | | sources_disagree
  refuses a mint of a token with other decimals                                | decimals=3     | a, b, c | | other_mint
  refuses a mint of a token of another program                                 | program=2022   | a, b, c | | other_mint
  refuses a mint while the custodian is the mint authority                     | | a authority=custodian, b authority=custodian, c | | not_mint_authority
  refuses a mint while there is no mint authority                              | | a authority=none, b authority=none, c | | not_mint_authority
  signs a mint while one node shows another authority                          | | a authority=none, b, c                | | ${ALL}
  refuses a mint while one of three nodes responds                             | | a                                     | | nodes_unreachable
  signs a mint while two of three nodes respond                                | | a, b                                  | | signed a=1002 b=1002
  refuses a mint while no two nodes show the same supply                       | | a, b supply=0, c supply=1             | | supplies_disagree
  ignores the supply of one lying node                                         | atoms=10001 | a supply=0, b, c           | | amount_above_reserve
  refuses a mint whose blockhash one node accepts                              | | a, b height=none, c height=none       | | blockhash_unknown
  signs a mint whose blockhash two nodes accept                                | | a, b, c height=none                   | | signed a=1002 b=1002
  stores no height that is far above the other nodes' heights                  | | a, b height=1185, c                   | | signed a=1002 c=1002
  stores no absurd height                                                      | | a, b height=1000000000000000000, c    | | signed a=1002 c=1002
  stores no height that is far below the other nodes' heights                  | | a, b height=819, c                    | | signed a=1002 c=1002
  stores no height of zero                                                     | | a, b height=0, c                      | | signed a=1002 c=1002
  stores a height that exceeds the others by no more than the lifetime of a blockhash | | a, b height=1184, c                   | | signed a=1002 b=1184 c=1002
  stores a height that is below the others by no more than the lifetime of a blockhash | | a, b height=820, c                    | | signed a=1002 b=820 c=1002
  stores the heights of the first nodes when two groups are equally large      | | a height=1000, b height=1100, c height=1250 | | signed a=1000 b=1100
  refuses a mint when a lying node and one other accept the blockhash          | | a, b height=1000000000000000000, c height=none | | blockhash_unknown
  signs nothing until the earlier transaction can no longer land               | | a final=982, b final=982, c final=982 | a=800 b=800 c=800 | earlier_mint_open
  signs once the earlier transaction can no longer land                        | | a final=983, b final=983, c final=983 | a=800 b=800 c=800 | ${ALL}
  waits even if one node claims a great height                                 | | a final=900, b final=900, c final=1000000000 | a=800 b=800 c=800 | earlier_mint_open
  waits even if one node claimed a small height when the mint was signed       | | a final=982, b final=982, c final=982 | a=0 b=800 c=800   | earlier_mint_open
  signs even if one node claimed a great height when the mint was signed       | | a final=983, b final=983, c final=983 | a=999999999 b=800 c=800 | ${ALL}
  waits at a node that was added later for the greatest stored height          | | x final=982, y final=982              | a=700 b=800       | earlier_mint_open
  signs when nodes that were added later have passed the greatest height       | | x final=983, y final=983              | a=700 b=800       | signed x=1002 y=1002
  ignores the supply of a node at which the earlier transaction may still land | | a final=983, b final=983, c final=982 supply=0 | a=800 b=800 c=800 | ${ALL}
  waits if only one node shows the end of the earlier transaction              | | c final=982 supply=0, a final=983     | a=800 b=800 c=800 | earlier_mint_open
`)('the witness %s', (_what, asked = '', views = '', last = '', result) => {
  expect(decide(asked, views, last)).toBe(result);
});
