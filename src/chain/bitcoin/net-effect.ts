/**
 * The net effect of a transaction on an address. It is separate from the Esplora client, so that a page can load it
 * without the client's schemas.
 * @module
 */
import { type Sats, sats } from '../../core/amount.ts';

type Paid = { readonly address: string | null; readonly value: bigint };

/** Sats that the address gains; negative when it spends more than it receives. */
export function netEffect(
  tx: { readonly inputs: readonly Paid[]; readonly outputs: readonly Paid[] },
  address: string,
): Sats {
  const sumOf = (rows: readonly Paid[]): bigint =>
    rows.reduce((sum, row) => (row.address === address ? sum + row.value : sum), 0n);
  return sats(sumOf(tx.outputs) - sumOf(tx.inputs));
}
