import {
  type CreationCosts,
  creationCost,
  creationCosts,
  creationMessage,
  type TokenDesign,
} from '../../chain/solana/token-creation.ts';
import { METAPLEX_PROGRAM } from '../../chain/solana/token-metadata.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../chain/solana/token-program.ts';
import { type MessageVersion, SYSTEM_PROGRAM } from '../../chain/solana/transaction.ts';
import { AppError, refusalError } from '../../core/errors.ts';
import type { CustodianApi, RequestView } from '../../custody/api.ts';
import { checkedProgram, invalid, type TokenRequest } from './token-request.ts';

export type CreateInvoiceDeps = {
  readonly custody: Pick<CustodianApi, 'openRequest'>;
  /** Minimum balance that makes an account without data rent-exempt, in lamports. */
  leastBalance(): Promise<bigint>;
  /** The chain's reason for rejecting an unsigned message of two signers; null if it would pass. */
  simulate(message: Uint8Array): Promise<string | null>;
  /** Format version of the creation's message. */
  readonly messageVersion: MessageVersion;
  isProgram(address: string): Promise<boolean>;
  /** The owner program of an account; null if no account exists at the address. @throws AppError UPSTREAM_FAILED */
  ownerOf(address: string): Promise<string | null>;
  readonly reserve: { readonly solanaAddress: string | null };
  /** Accounts of the service, including its mints, which cannot be a creator's wallet. */
  readonly ownAddresses: ReadonlySet<string>;
  readonly invoiceMargin: bigint;
  /** A fresh unused address, for the simulation. */
  readonly randomAddress: () => string;
  readonly publicBaseUrl: string;
};

/** A placeholder of maximum length for the mint, so that a URI that fits with it fits with every mint. */
const LONGEST_ADDRESS = '1'.repeat(44);

export type Invoice = { readonly request: RequestView; readonly fee: FeeBreakdown };

/**
 * Checks and simulates a token, then opens an invoice, so that only possible creations are charged.
 * @throws AppError
 */
export async function createInvoice(
  deps: CreateInvoiceDeps,
  order: TokenRequest,
  client: string,
): Promise<Invoice> {
  const design = designOf(deps, order);
  if (deps.ownAddresses.has(design.creator) || PROGRAMS.has(design.creator)) throw notAWallet(design.creator);
  await checkWallet(deps, design.creator);
  const fee = await creationFee(deps, design);
  await simulateCreation(deps, design, fee);
  const opened = await deps.custody.openRequest({
    kind: 'token',
    client,
    baseFeeLamports: chargedFee(fee),
    subject: {
      ...design,
      supply: design.supply.toString(),
      description: order.description,
      image: order.image,
      costLamports: creationCost(fee).toString(),
      fee: feeParts(fee),
    },
  });
  if (opened.type === 'refused') throw refusalError(opened.refusal);
  return { request: opened.request, fee };
}

/** The token of a valid request. @throws AppError */
export function designOf(deps: Pick<CreateInvoiceDeps, 'publicBaseUrl'>, order: TokenRequest): TokenDesign {
  const { description: _description, image: _image, ...design } = order;
  const uri = `${deps.publicBaseUrl}/api/tokens/${LONGEST_ADDRESS}/metadata.json`;
  return { ...design, program: checkedProgram(order), uri };
}

/**
 * Programs that are refused without a read. The curve check alone would accept the System program, whose address is on
 * the curve.
 */
const PROGRAMS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  METAPLEX_PROGRAM,
]);

/**
 * An account that is not owned by the System program, such as a mint, can never sign for the tokens. A wallet that has
 * never received lamports does not have an account.
 */
async function checkWallet({ ownerOf }: CreateInvoiceDeps, creator: string): Promise<void> {
  const owner = await ownerOf(creator);
  if (owner !== null && owner !== SYSTEM_PROGRAM) throw notAWallet(creator);
}

const notAWallet = (creator: string): AppError =>
  invalid(
    'creator_address',
    'must be a wallet: not a mint, a program or an account of this service',
    creator,
  );

async function simulateCreation(
  deps: CreateInvoiceDeps,
  design: TokenDesign,
  fee: FeeBreakdown,
): Promise<void> {
  const reserve = deps.reserve.solanaAddress;
  if (reserve === null) return;
  if (design.metaplex && !(await deps.isProgram(METAPLEX_PROGRAM))) {
    throw new AppError(
      'METAPLEX_UNAVAILABLE',
      'The Metaplex metadata program does not exist on this chain. Omit metaplex_metadata.',
    );
  }
  const lifetime = { blockhash: LONGEST_ADDRESS.slice(0, 32), version: deps.messageVersion };
  const mint = deps.randomAddress();
  const message = creationMessage({ design, mint, reserve, mintRent: fee.mintRent, lifetime });
  const why = await deps.simulate(message);
  if (why === null) return;
  throw new AppError('CREATION_REFUSED', 'The chain rejects this creation in a simulation.', {
    details: { reason: why },
  });
}

/** The cost of a creation and the operator's margin, in lamports. */
type FeeBreakdown = CreationCosts & { readonly margin: bigint };

/** The parts as decimal strings, for responses and rows. */
export const feeParts = (fee: FeeBreakdown): Record<string, string> =>
  Object.fromEntries(Object.entries(fee).map(([part, lamports]) => [part, String(lamports)]));

export const creationFee = async (
  { invoiceMargin: margin, leastBalance }: Pick<CreateInvoiceDeps, 'invoiceMargin' | 'leastBalance'>,
  design: TokenDesign,
): Promise<FeeBreakdown> => ({ ...creationCosts(design, await leastBalance()), margin });

export const chargedFee = (fee: FeeBreakdown): bigint => creationCost(fee) + fee.margin;
