/** Asks the witness for its own addresses. It signs nothing. */
import * as z from 'zod';
import type { Config } from '../../src/config.ts';
import { type Finding, hostOf, problem } from './finding.ts';

const TIMEOUT_MS = 15_000;

/** What `GET /` of the witness shows. */
const State = z.object({
  witness: z.string(),
  custodian: z.string(),
  mintAuthority: z.string(),
  mint: z.string(),
  bitcoin: z.string(),
  owner: z.string(),
});
const Refusal = z.object({ error: z.string() });

export async function checkMintWitness(config: Config): Promise<Finding[]> {
  const { ABSR_WITNESS_URL: url } = config;
  if (url === undefined) return [];
  const unreachable = (why: string): Finding[] => [
    problem(
      'witness-unreachable',
      `ABSR_WITNESS_URL: ${hostOf(url)} ${why}: nothing is minted.`,
      'Ask the person who runs the witness, or correct the URL. Minting resumes as soon as the witness responds.',
    ),
  ];
  let body: unknown;
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    body = await response.json();
  } catch {
    return unreachable('does not respond as a witness');
  }
  const { data: state } = State.safeParse(body);
  if (!state) return unreachable(Refusal.safeParse(body).data?.error ?? 'is no witness');
  const own = {
    RESERVE_SOLANA_ADDRESS: [config.RESERVE_SOLANA_ADDRESS, state.custodian],
    ABSR_MINT_AUTHORITY: [config.ABSR_MINT_AUTHORITY, state.mintAuthority],
    ABSR_MINT_ADDRESS: [config.ABSR_MINT_ADDRESS, state.mint],
    RESERVE_BTC_ADDRESS: [config.RESERVE_BTC_ADDRESS, state.bitcoin],
    TREASURY_SOLANA_ADDRESS: [config.TREASURY_SOLANA_ADDRESS ?? config.RESERVE_SOLANA_ADDRESS, state.owner],
  };
  const others = Object.entries(own).filter(([, [service, witness]]) => service !== witness);
  return [
    ...others.map(([name]) =>
      problem(
        'witness-other',
        `The witness has a different ${name} from these settings: it refuses every mint.`,
        'Find out which one is right, and correct the other.',
      ),
    ),
    ...(state.witness === config.RESERVE_SOLANA_ADDRESS
      ? [
          problem(
            'witness-same-key',
            'The witness of ABSR_WITNESS_URL has the key of RESERVE_SOLANA_ADDRESS: one thief has both.',
            'Let it create a key of its own: `npm run -s ops -- keygen --witness`.',
          ),
        ]
      : []),
  ];
}
