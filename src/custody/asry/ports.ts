/**
 * The chain as claims and their payouts need it.
 * @module
 */
import type { DepositTerms } from '../../chain/solana/deposit.ts';
import { decodeMint } from '../../chain/solana/mint.ts';
import { decodeTokenAccount } from '../../chain/solana/token-account.ts';
import { findAta } from '../../chain/solana/token-instructions.ts';
import type { SolanaRpc } from '../../providers/solana-rpc.ts';
import type { AsryPorts } from './claims.ts';
import type { AsryProgram } from './epochs.ts';

type Mint = { readonly program: string; readonly decimals: number };

export function createAsryPorts(
  rpc: SolanaRpc,
  p: { reserveAddress: string; mint: string; terms: DepositTerms; program: AsryProgram },
): AsryPorts {
  let known: Mint | undefined;

  /** A mint's program and digits never change. */
  async function readMint(): Promise<Mint | undefined> {
    if (known) return known;
    const [account] = (await rpc.first((node) => node.accounts([p.mint], 'finalized'))).accounts;
    const mint = account && decodeMint(account.owner, account.data);
    if (mint) known = { program: mint.program, decimals: mint.decimals };
    return known;
  }

  return {
    ...p,
    nodes: rpc.nodes.map((node) => ({
      transaction: (signature) => node.transaction(signature, 'finalized'),
      firstAvailableBlock: () => node.firstAvailableBlock(),
    })),

    async readPayees(receivers) {
      const mint = await readMint();
      if (!mint)
        return receivers.map(() => ({ program: null, decimals: -1, accountOwner: null, reserveAtoms: 0n }));
      const holders = [p.reserveAddress, ...receivers];
      const addresses = holders.map((holder) => findAta(holder, p.mint, mint.program));
      const { accounts } = await rpc.first((node) => node.accounts(addresses, 'confirmed'));
      const [reserve, ...theirs] = accounts.map((account) =>
        account ? decodeTokenAccount(account.owner, account.data) : undefined,
      );
      return theirs.map((account) => ({
        ...mint,
        accountOwner: account?.owner ?? null,
        reserveAtoms: reserve?.atoms ?? 0n,
      }));
    },

    latestBlockhash: () => rpc.first((node) => node.latestBlockhash('confirmed')),
  };
}
