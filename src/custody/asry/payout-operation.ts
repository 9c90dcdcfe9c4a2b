/**
 * The payout of an ASRY reward: one token transfer to the account of the deposit's sender. Its memo names the
 * deposit. The plan fixes all parameters; preparation only reads the chain again before signing.
 * @module
 */

import type { DepositTerms } from '../../chain/solana/deposit.ts';
import { findAta } from '../../chain/solana/token-instructions.ts';
import {
  type TokenTransfer,
  tokenTransferFee,
  tokenTransferMessage,
} from '../../chain/solana/token-messages.ts';
import { decodeMint, decodeTokenAccount, movableAtoms } from '../../chain/solana/token-program.ts';
import {
  type KindRules,
  type Operation,
  type OperationKind,
  type Prepared,
  plainlyPrepared,
  settlesByLanding,
} from '../kernel/operation.ts';
import type { LookUp } from '../kernel/signature-lookups.ts';
import type { Blockhash, SolanaView } from '../kernel/solana-view.ts';
import type { AsryProgram } from './epochs.ts';

/**
 * After one attempt that failed on the chain, or three that expired, the payout is owed again and checked from the
 * start.
 */
const ASRY_RULES: KindRules = {
  maxAttempts: 3,
  retriesPreparation: true,
  endsWhenRejected: true,
  settles: false,
  coveredAt: 'begin',
};

/** The recipient's account and the source of rewards at one slot. */
export type PayoutAccounts = {
  /** The token program that owns the mint; null if the mint does not exist. */
  readonly program: string | null;
  readonly decimals: number;
  /** Owner of the recipient's associated account; null if the account does not exist. */
  readonly accountOwner: string | null;
  /** ASRY atoms that the reserve's key may move out of the source. */
  readonly reserveAtoms: bigint;
};

export type AsryPayoutPorts = {
  readonly mint: string;
  /** Token account that pays, with the reserve's key as its delegate; absent for the reserve's own account. */
  readonly source?: string;
  /** Reads all recipients in one call, in the given order; at most 90. @throws AppError UPSTREAM_FAILED */
  readAccounts(recipients: readonly string[]): Promise<PayoutAccounts[]>;
  latestBlockhash(): Promise<Blockhash>;
};

export type AsryPorts = AsryPayoutPorts & {
  /** Undefined if the mint does not exist. @throws AppError UPSTREAM_FAILED */
  readMint(): Promise<Mint | undefined>;
  /** Looks up a deposit that a caller names. */
  readonly lookUp: LookUp;
  readonly terms: DepositTerms;
  readonly program: AsryProgram;
};

export const payoutId = (deposit: string, number: number): string => `asry:${deposit}:${number}`;

/** The purpose with which the journal records the payment of a claimed deposit. */
export const claimPurpose = (deposit: string): string => `asry:${deposit}`;

function transferOf({ id, signer, plan }: Operation): TokenTransfer {
  return {
    from: signer,
    to: String(plan.receiver),
    mint: String(plan.mint),
    program: String(plan.program),
    atoms: BigInt(String(plan.atoms)),
    decimals: Number(plan.decimals),
    createAccount: plan.createAccount === true,
    ...(typeof plan.source === 'string' ? { source: plan.source } : {}),
    memo: id,
  };
}

export function createAsryKind(ports: AsryPayoutPorts): OperationKind {
  return {
    rules: ASRY_RULES,

    async prepare(operation): Promise<Prepared> {
      const [accounts] = await ports.readAccounts([String(operation.plan.receiver)]);
      if (!accounts) return { ok: false, reason: 'unread' };
      const transfer = transferOf(operation);
      const wrong = objection(accounts, transfer);
      if (wrong) return { ok: false, reason: wrong };
      const lifetime = await ports.latestBlockhash();
      const prepared = plainlyPrepared(tokenTransferMessage(transfer, lifetime), lifetime);
      return { ...prepared, cost: tokenTransferFee(transfer) };
    },

    settle: settlesByLanding,
  };
}

/** Reason why a transfer would fail or reach a different owner. */
function objection(accounts: PayoutAccounts, transfer: TokenTransfer): string | undefined {
  if (accounts.program !== transfer.program || accounts.decimals !== transfer.decimals)
    return 'mint_unexpected';
  if (accounts.accountOwner === null) return transfer.createAccount ? undefined : 'recipient_account_missing';
  if (accounts.accountOwner !== transfer.to) return 'recipient_account_foreign';
  return accounts.reserveAtoms < transfer.atoms ? 'reserve_short_of_asry' : undefined;
}

export type Mint = { readonly program: string; readonly decimals: number };

/** The chain reads of claims and payouts. */
export function createAsryPorts(
  solana: SolanaView,
  ports: Pick<AsryPorts, 'mint' | 'source' | 'terms' | 'program'>,
): Omit<AsryPorts, 'lookUp'> {
  let known: Mint | undefined;

  /** Read once, because the program and decimals of a mint never change. */
  async function readMint(): Promise<Mint | undefined> {
    if (known) return known;
    const [mint] = await solana.agreed(`mint ${ports.mint}`, async (node) => {
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
      const views = await solana.agreed(
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
          return { owners, atoms };
        },
        ({ owners }) => owners,
      );
      const [{ owners }] = views;
      const reserveAtoms = views.reduce((low, { atoms }) => (atoms < low ? atoms : low), views[0].atoms);
      return owners.map((accountOwner) => ({ ...mint, accountOwner, reserveAtoms }));
    },
  };
}
