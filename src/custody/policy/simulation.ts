/**
 * S8 for calls inside programs, and S17: the state after a simulation of the unsigned transaction. The chain
 * does not bind the execution to the simulation (S18); caps and the unsettled amount bound the difference.
 * @module
 */
import { NATIVE_VAULT, SWAP_ENDPOINT_PROGRAM } from '../../bridges/lifi-chainflip.ts';
import { createByteReader } from '../../chain/solana/byte-reader.ts';
import type { Lamports } from '../../core/amount.ts';
import type { ApprovedShape } from './instructions.ts';
import { SYSTEM_PROGRAM, SYSTEM_TRANSFER } from './programs.ts';
import { type PolicyRefusal, refuse } from './refusal.ts';
import type { ResolvedInstruction } from './resolved-instructions.ts';
import type { PolicyTerms } from './terms.ts';

export type AccountState = { readonly owner: string; readonly lamports: bigint; readonly data: Uint8Array };

export type SimulationResult = {
  /** The node's error; null when the transaction would succeed. */
  readonly error: unknown;
  /** The reserve and all accounts of ours, before and after; null if absent. */
  readonly accounts: ReadonlyMap<
    string,
    { readonly before: AccountState | null; readonly after: AccountState | null }
  >;
  /** Calls made by programs, with the index of the calling instruction. */
  readonly inner: readonly { readonly instruction: number; readonly call: ResolvedInstruction }[];
};

/** Index of the account that the endpoint opens, among the instruction's accounts. */
const EVENT_ACCOUNT = 3;
const CREATE_ACCOUNT = 0;
const CREATE_ACCOUNT_BYTES = 52;

/** @returns lamports that may leave the reserve in total: the amount, fees and the observed rent */
export function checkSimulation(
  { error, accounts, inner }: SimulationResult,
  shape: ApprovedShape,
  amount: Lamports,
  terms: PolicyTerms,
): PolicyRefusal | { readonly ok: true; readonly spend: bigint } {
  if (error !== null) return refuse('simulation_failed');
  const rent = checkInner(inner, shape, terms);
  if (typeof rent !== 'bigint') return rent;
  const reserve = accounts.get(terms.reserveAddress);
  if (!reserve?.before || !reserve.after) return refuse('simulation_incomplete');
  const { before, after } = reserve;
  if (after.owner !== SYSTEM_PROGRAM) return refuse('reserve_owner_changed');
  if (after.data.length !== 0) return refuse('reserve_data_changed');
  const spend = before.lamports - after.lamports;
  const bound = amount + shape.networkFee + rent;
  if (spend > bound) return refuse('reserve_overspent');
  // The bytes pay the amount out. A node that shows less has not executed them.
  if (spend < amount) return refuse('reserve_underspent');
  if (after.lamports < terms.limits.floor) return refuse('balance_floor');
  for (const address of terms.ownAccounts) {
    const own = accounts.get(address);
    if (!own) return refuse('simulation_incomplete');
    if (!isSame(own.before, own.after)) return refuse('own_account_changed');
  }
  return { ok: true, spend: bound };
}

/**
 * Only a vault swap makes calls: the payment itself, and the opening of its event account. @returns the rent
 */
function checkInner(
  inner: SimulationResult['inner'],
  shape: ApprovedShape,
  terms: PolicyTerms,
): PolicyRefusal | bigint {
  let paid = 0n;
  let rent = 0n;
  for (const { instruction, call } of inner) {
    if (shape.leg.kind !== 'vault_swap' || instruction !== shape.legAt || call.program !== SYSTEM_PROGRAM) {
      return refuse('inner_not_allowed');
    }
    const [from, to] = call.accounts;
    const isFromUs = from?.address === terms.reserveAddress && call.accounts.length === 2;
    const read = createByteReader(call.data);
    const discriminator = call.data.length < 12 ? -1 : read.u32();
    const lamports = discriminator < 0 ? 0n : read.u64();
    if (
      isFromUs &&
      discriminator === SYSTEM_TRANSFER &&
      call.data.length === 12 &&
      to?.address === NATIVE_VAULT
    ) {
      paid += lamports;
    } else if (
      isFromUs &&
      discriminator === CREATE_ACCOUNT &&
      call.data.length === CREATE_ACCOUNT_BYTES &&
      to?.address === shape.leg.accounts[EVENT_ACCOUNT] &&
      createByteReader(call.data, 20).address() === SWAP_ENDPOINT_PROGRAM
    ) {
      rent += lamports;
    } else return refuse('inner_not_allowed');
  }
  if (shape.leg.kind === 'vault_swap' && paid !== shape.leg.swap.lamports) return refuse('inner_amount');
  return rent > terms.limits.maxRent ? refuse('inner_rent') : rent;
}

const isSame = (a: AccountState | null, b: AccountState | null): boolean =>
  a === null || b === null
    ? a === b
    : a.owner === b.owner &&
      a.lamports === b.lamports &&
      a.data.length === b.data.length &&
      a.data.every((byte, index) => byte === b.data[index]);

/** The chain's record of a landed transaction. */
export type Landing = {
  readonly error: unknown;
  /** Lamports of the reserve. */
  readonly before: bigint;
  readonly after: bigint;
  /** Whether a token balance of one of our accounts differs. */
  readonly changesTokens: boolean;
};

/**
 * S25: the effects of a landed transaction match the prediction. Undefined if they do, else the reason to
 * stop signing until the operator resumes it.
 */
export function checkLanding(
  landing: Landing,
  foreseen: { readonly amount: bigint; readonly spend: bigint },
): PolicyRefusal | undefined {
  if (landing.error !== null) return refuse('landing_error');
  const spent = landing.before - landing.after;
  if (spent < foreseen.amount || spent > foreseen.spend) return refuse('landing_balance');
  return landing.changesTokens ? refuse('landing_tokens') : undefined;
}
