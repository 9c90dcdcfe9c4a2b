/**
 * The dependencies that all actions on rewards share, and their reads of the chain.
 * @module
 */
import type { DepositTerms } from '../../chain/solana/deposit.ts';
import { findAta } from '../../chain/solana/token-instructions.ts';
import { decodeMint, decodeTokenAccount, movableAtoms } from '../../chain/solana/token-program.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { Within } from '../kernel/ports.ts';
import type { LookUp } from '../nodes/signature-lookups.ts';
import type { Blockhash, SolanaView } from '../nodes/solana-view.ts';
import type { AsryStore } from './asry-store.ts';
import { type AsryProgram, missingEpochs } from './epochs.ts';

/** The recipient's account and the source of rewards at one slot. */
export type PayoutAccounts = {
  /** The token program that owns the mint; null if the mint does not exist. */
  readonly program: string | null;
  readonly decimals: number;
  readonly accountOwner: string | null;
  /** ASRY atoms that the reserve's key may move out of the source. */
  readonly reserveAtoms: bigint;
};

export type AsryPayoutPorts = {
  readonly mint: string;
  /** Token account that pays, with the reserve's key as its delegate; absent for the reserve's own account. */
  readonly source?: string;
  /**
   * Reads up to 90 recipients in one call and keeps their order. An entry is undefined if no quorum agrees on its
   * account.
   * @throws AppError UPSTREAM_FAILED
   */
  readAccounts(recipients: readonly string[]): Promise<readonly (PayoutAccounts | undefined)[]>;
  latestBlockhash(): Promise<Blockhash>;
};

export type AsryPorts = AsryPayoutPorts & {
  /** Undefined if the mint does not exist. @throws AppError UPSTREAM_FAILED */
  readMint(): Promise<Mint | undefined>;
  readonly lookUp: LookUp;
  readonly terms: DepositTerms;
  readonly program: AsryProgram;
};

export type AsryContext = ModuleTools &
  AsryPorts & {
    readonly store: AsryStore;
    readonly within: Within;
    /** For each deposit, the newest check that a repeated claim caused. `at`: Unix milliseconds. */
    readonly repeats: Map<string, { readonly at: number; readonly done: Promise<void> }>;
  };

export type Mint = { readonly program: string; readonly decimals: number };

export function createAsryPorts(
  solana: SolanaView,
  ports: Pick<AsryPorts, 'mint' | 'source' | 'terms' | 'program'>,
): Omit<AsryPorts, 'lookUp'> {
  let known: Mint | undefined;

  /** Read once, because the program and decimals of a mint never change. */
  async function readMint(): Promise<Mint | undefined> {
    if (known) return known;
    const mint = await solana.agreed(`mint ${ports.mint}`, async (node) => {
      const [account] = (await node.accounts([ports.mint], 'finalized')).accounts;
      const decoded = account && decodeMint(account.owner, account.data);
      return decoded ? { program: decoded.program, decimals: decoded.decimals } : null;
    });
    known = mint ?? undefined;
    return known;
  }

  return {
    ...ports,
    latestBlockhash: () => solana.latestBlockhash(),
    readMint,

    async readAccounts(recipients) {
      const mint = await readMint();
      if (!mint)
        return recipients.map(() => ({ program: null, decimals: -1, accountOwner: null, reserveAtoms: 0n }));
      const accountOf = (holder: string) => findAta(holder, ports.mint, mint.program);
      const addresses = [ports.source ?? accountOf(ports.terms.reserve), ...recipients.map(accountOf)];
      const { values, figure: reserveAtoms } = await solana.agreedEach(
        `recipients ${recipients.join(' ').slice(0, 100)}`,
        async (node) => {
          const { accounts } = await node.accounts(addresses, 'confirmed');
          const [source, ...theirs] = accounts;
          const owners = theirs.map(
            (account) => (account && decodeTokenAccount(account.owner, account.data)?.owner) ?? null,
          );
          const atoms = source
            ? movableAtoms(source.owner, source.data, ports.mint, ports.terms.reserve)
            : 0n;
          return { values: owners, figure: atoms };
        },
      );
      return values.map((owner) =>
        owner === undefined ? undefined : { ...mint, accountOwner: owner, reserveAtoms },
      );
    },
  };
}

/**
 * Opens the epochs that have started by now, or by a later time in Unix seconds.
 * @throws AppError UPSTREAM_FAILED while the decimals of ASRY cannot be read
 */
export async function openEpochs(
  { now, program, readMint, storage, store }: AsryContext,
  time = 0,
): Promise<void> {
  const seconds = Math.floor(now() / 1_000);
  const until = Math.max(time, seconds);
  if ((store.lastEnd() ?? 0) > until) return;
  const mint = await readMint();
  if (!mint) throw upstreamFailed('solana-rpc', 'mint_unexpected');
  storage.transaction(() => {
    const [last] = store.epochs(1);
    for (const epoch of missingEpochs(last, program, until, seconds, mint.decimals)) store.saveEpoch(epoch);
  });
}
