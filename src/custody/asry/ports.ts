/**
 * The chain reads that claims and payouts need.
 * @module
 */
import type { DepositTerms } from '../../chain/solana/deposit.ts';
import { findAta } from '../../chain/solana/token-instructions.ts';
import { decodeMint, decodeTokenAccount } from '../../chain/solana/token-program.ts';
import type { SolanaView } from '../kernel/solana-view.ts';
import type { AsryPorts } from './claims.ts';
import type { AsryProgram } from './epochs.ts';

type Mint = { readonly program: string; readonly decimals: number };

export function createAsryPorts(
  { agreed, transaction, latestBlockhash }: SolanaView,
  p: { reserveAddress: string; mint: string; terms: DepositTerms; program: AsryProgram },
): AsryPorts {
  let known: Mint | undefined;

  /** The program and decimals of a mint never change. */
  async function readMint(): Promise<Mint | undefined> {
    if (known) return known;
    const [mint] = await agreed(`mint ${p.mint}`, async (node) => {
      const [account] = (await node.accounts([p.mint], 'finalized')).accounts;
      const decoded = account && decodeMint(account.owner, account.data);
      return decoded ? { program: decoded.program, decimals: decoded.decimals } : null;
    });
    known = mint ?? undefined;
    return known;
  }

  return {
    ...p,
    transaction,
    latestBlockhash,

    async readPayees(receivers) {
      const mint = await readMint();
      if (!mint)
        return receivers.map(() => ({ program: null, decimals: -1, accountOwner: null, reserveAtoms: 0n }));
      const holders = [p.reserveAddress, ...receivers];
      const addresses = holders.map((holder) => findAta(holder, p.mint, mint.program));
      const views = await agreed(
        `payees ${receivers.join(' ').slice(0, 100)}`,
        async (node) => {
          const { accounts } = await node.accounts(addresses, 'confirmed');
          const [reserve, ...theirs] = accounts.map((account) =>
            account ? decodeTokenAccount(account.owner, account.data) : undefined,
          );
          return { owners: theirs.map((account) => account?.owner ?? null), atoms: reserve?.atoms ?? 0n };
        },
        ({ owners }) => owners,
      );
      const [{ owners }] = views;
      const reserveAtoms = views.reduce((low, { atoms }) => (atoms < low ? atoms : low), views[0].atoms);
      return owners.map((accountOwner) => ({ ...mint, accountOwner, reserveAtoms }));
    },
  };
}
