/**
 * The evidence and limits for third parties' transactions, if a route uses them.
 * @module
 */
import { LIFI_MAX_FEE_BPS } from '../bridges/lifi.ts';
import { findAta } from '../chain/solana/token-instructions.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../chain/solana/token-program.ts';
import type { Config } from '../config.ts';
import type { CustodyDeps } from '../custody/custodian.ts';
import type { SolanaView } from '../custody/kernel/solana-view.ts';
import type { SolanaRpc } from '../providers/solana-rpc.ts';
import { nearIntentsOf } from './swap-routes.ts';
import { log, type Wired } from './telemetry.ts';

/**
 * Lamports. Recorded quotes of LI.FI use up to 285,000 for priority; a vault swap also pays the rent of its
 * event account.
 */
const MAX_PRIORITY_FEE = 500_000n;
const MAX_RENT = 5_000_000n;
/** Broker and affiliate fees of a vault swap. */
const MAX_BROKER_BPS = 50;

export function thirdPartySwaps(
  config: Wired,
  rpc: SolanaRpc,
  { latestBlockhash }: Pick<SolanaView, 'latestBlockhash'>,
  reserve: { readonly reserveAddress: string; readonly bitcoinAddress: string },
): Pick<CustodyDeps, 'thirdParty'> {
  if (!config.SWAP_ROUTES.includes('lifi')) return {};
  const near = nearIntentsOf(config);
  return {
    thirdParty: {
      terms: {
        ...reserve,
        ownAccounts: ownAccounts(config, reserve.reserveAddress),
        limits: {
          maxPriorityFee: MAX_PRIORITY_FEE,
          maxFeeBps: LIFI_MAX_FEE_BPS,
          maxBrokerBps: MAX_BROKER_BPS,
          maxRent: MAX_RENT,
          floor: config.RESERVE_FLOOR_SOL,
        },
      },
      quoteKey: config.NEAR_INTENTS_QUOTE_KEY,
      nodes: rpc.nodes,
      first: rpc.first,
      nearStatus: near.status,
      latestBlockhash,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      now: Date.now,
      log: config.telemetry?.log ?? log,
    },
  };
}

/** Our mints, the treasury, and the token accounts of the treasury and the reserve. */
function ownAccounts(config: Config, reserve: string): string[] {
  const treasury = config.TREASURY_SOLANA_ADDRESS ?? reserve;
  const mints = [config.ABSR_MINT_ADDRESS, config.ASRY_MINT_ADDRESS].filter((mint) => mint !== undefined);
  const dollars = [config.USDC_MINT_ADDRESS, config.USDT_MINT_ADDRESS];
  const held = [reserve, treasury].flatMap((owner) => [
    ...dollars.map((mint) => findAta(owner, mint, TOKEN_PROGRAM)),
    ...mints.flatMap((mint) =>
      [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((program) => findAta(owner, mint, program)),
    ),
  ]);
  return [...new Set([...mints, treasury, ...held])].filter((address) => address !== reserve);
}
