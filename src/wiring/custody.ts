/**
 * Builds the custodian's dependencies.
 * @module
 */

import { base64 } from '@scure/base';
import type { SwapRoute } from '../bridges/route.ts';
import { isSignedBy, verifyingKey } from '../chain/ed25519.ts';
import { decodeBase58 } from '../chain/solana/address.ts';
import { type DepositTerms, depositTerms, EXCHANGE_WALLETS } from '../chain/solana/deposit.ts';
import { type ListingFacts, listingAccounts, listingFacts } from '../chain/solana/listed-token.ts';
import { decodeMint, decodeMultisig } from '../chain/solana/token-program.ts';
import { ofTwoSigners, signedTransaction } from '../chain/solana/transaction.ts';
import { type Config, limitsOf } from '../config.ts';
import { quoteBudgets } from '../core/call-limits.ts';
import { AppError, notConfigured, upstreamFailed } from '../core/errors.ts';
import { createAsryPorts } from '../custody/asry/context.ts';
import { PROGRAM_TERMS } from '../custody/asry/epochs.ts';
import type { CustodyDeps } from '../custody/dependencies.ts';
import { createD1Mirror } from '../custody/kernel/outbox.ts';
import { type LookUp, SignatureLookups } from '../custody/nodes/signature-lookups.ts';
import { SolanaView } from '../custody/nodes/solana-view.ts';
import type { PaymentDeps } from '../custody/payments/context.ts';
import type { AbsrPorts } from '../custody/reserve/daily-mint.ts';
import {
  type ReserveSources,
  reserveViews,
  solanaFigures,
  supplyViews,
} from '../custody/reserve/reserve-views.ts';
import { type Keys, openKeys } from '../custody/secrets.ts';
import type { SwapPorts } from '../custody/swap/operation.ts';
import { costOfCreation, createTokenKind } from '../custody/tokens/creation-operation.ts';
import { within } from '../http/within.ts';
import { atPriority } from '../providers/admission.ts';
import type { Esplora } from '../providers/esplora.ts';
import { createMintWitness } from '../providers/mint-witness.ts';
import { ANY_VERSION, createSolanaRpc, type SolanaNode, type SolanaRpc } from '../providers/solana-rpc.ts';
import { clients } from './clients.ts';
import { missingFor } from './missing-settings.ts';
import { shared } from './shared.ts';
import { swapRoute } from './swap-route.ts';
import { fetchFor, log, type Wired, wiredCustodian } from './telemetry.ts';
import { probeNode } from './upstream-probes.ts';

/** The keys, upstreams and platform below the custody modules. The whole-system simulation replaces all of them. */
export type CustodyPlatform = {
  readonly rpc: SolanaRpc;
  readonly esploras: readonly Esplora[];
  readonly readPrices: SwapPorts['readPrices'];
  readonly route: SwapRoute;
  readonly database: D1Database;
} & Keys &
  Pick<CustodyDeps, 'now' | 'randomId' | 'within' | 'openCircuits' | 'release' | 'log'> &
  Pick<PaymentDeps, 'randomBytes'>;

/**
 * @throws AppError NOT_CONFIGURED, which is also logged as an alarm, because signing stops until the operator corrects
 * the setting
 */
export function custodyDeps(env: Env): CustodyDeps {
  const config = wiredCustodian(env);
  try {
    return depsOf(env, config);
  } catch (error) {
    if (error instanceof AppError) {
      log({ level: 'alarm', event: 'custodian_not_configured', ...error.details });
    }
    throw error;
  }
}

function depsOf(env: Env, config: Required<Wired>): CustodyDeps {
  const { RESERVE_SOLANA_ADDRESS: solanaAddress, RESERVE_BTC_ADDRESS: bitcoinAddress } = config;
  const missing = missingFor(config, 'custody');
  if (missing.length > 0 || !solanaAddress || !bitcoinAddress) throw notConfigured(missing);
  const reserve = { solanaAddress, bitcoinAddress };
  return composeCustody(config, bitcoinAddress, {
    ...clients(config),
    rpc: createSolanaRpc({ urls: config.SOLANA_RPC_URL, fetch: fetchFor(config, 'SOLANA_RPC_URL') }),
    ...openKeys(env, { reserve, fetch: (url, init) => fetch(url, init), within, log }),
    route: swapRoute(config, reserve),
    database: env.DB,
    now: Date.now,
    randomId: () => crypto.randomUUID(),
    randomBytes,
    within,
    openCircuits: () => config.admission.openCircuits(),
    release: env.VERSION?.id,
    log,
  });
}

/** Swaps prepared within this time share one read of the venues, and estimates share one blockhash. */
const SWAP_READS_SHARED_MS = 1_000;
const RENT_SHARED_MS = 10_000;
/** Each node is probed at most once in this time, however often the status is read. */
const PROBES_SHARED_MS = 5_000;

/** The custody modules on a platform, as enabled by the configuration. */
export function composeCustody(
  config: Wired,
  bitcoinAddress: string,
  platform: CustodyPlatform,
): CustodyDeps {
  const { rpc, signer, now } = platform;
  const reserveAddress = signer.address;
  const solana = new SolanaView({
    nodes: rpc.nodes,
    reserveAddress,
    now,
    within: platform.within,
    log: platform.log,
    messageVersion: config.SOLANA_TRANSACTION_VERSION,
  });
  const treasury = config.TREASURY_SOLANA_ADDRESS ?? reserveAddress;
  const heldSenders = new Set([...EXCHANGE_WALLETS, ...config.ASRY_HELD_SENDERS]);
  const accounts = { reserve: reserveAddress, treasury, heldSenders };
  const terms = depositTerms({ ...accounts, mints: config.DOLLAR_MINTS });
  const lookups = new SignatureLookups({
    chain: solana,
    payees: [treasury, terms.accounts.USDC, terms.accounts.USDT],
    now,
    sleep: (ms) => platform.within(new Promise(() => undefined), ms),
  });
  const lookUp: LookUp = (lookup) => lookups.find(lookup);
  return {
    chain: solana,
    lookUp,
    mirror: createD1Mirror(platform.database),
    signer,
    swap: swapPorts(config, solana, bitcoinAddress, platform),
    ...spendWatch(config, solana),
    ...reserveModules(config, solana, bitcoinAddress, platform),
    ...asryRewards(config, solana, terms),
    ...paidRequests(config, solana, accounts, { ...platform, lookUp }),
    limits: custodyLimits(config),
    swapsDisabled: config.SWAPS_DISABLED,
    contact: config.SECURITY_CONTACT,
    quoteBudgets: quoteBudgets(config.BRIDGE_QUOTES_2H),
    assemble: (message, signature, cosignatures) => {
      const { wire, signature: text } = signedTransaction(message, [signature, ...cosignatures]);
      return { wire: base64.encode(wire), signature: text };
    },
    now,
    randomId: platform.randomId,
    within: platform.within,
    openCircuits: platform.openCircuits,
    release: platform.release,
    probeNodes: shared(
      () => Promise.all(rpc.nodes.map((node) => probeNode(node, now))),
      PROBES_SHARED_MS,
      now,
    ),
    log: platform.log,
  };
}

const custodyLimits = (config: Config): CustodyDeps['limits'] => ({
  ...limitsOf(config),
  floor: config.RESERVE_FLOOR_SOL,
  operatingFloat: config.OPERATING_FLOAT_SOL,
});

/** The spend watch's reads: the effects of a transaction, and the accounts and mint that other keys can use. */
const spendWatch = (config: Config, solana: SolanaView): Pick<CustodyDeps, 'effects' | 'watched'> => ({
  effects: (signature) => solana.transaction(signature, ANY_VERSION),
  watched: {
    accounts: [config.ABSR_MINT_AUTHORITY, config.ASRY_SOURCE_ACCOUNT].filter((each) => each !== undefined),
    mint: config.ABSR_MINT_ADDRESS,
  },
});

function swapPorts(
  config: Config,
  solana: SolanaView,
  bitcoinAddress: string,
  { esploras, route, readPrices, now }: CustodyPlatform,
): SwapPorts {
  return {
    bitcoinAddress,
    route,
    maxCostBps: config.SWAP_MAX_COST_BPS,
    readPrices: shared(readPrices, SWAP_READS_SHARED_MS, now),
    latestBlockhash: () => solana.latestBlockhash(),
    // Like the balance, one read a second is the service's own work, so it never waits for a caller's budget.
    recentBlockhash: shared(
      () => atPriority('own', () => solana.latestBlockhash()),
      SWAP_READS_SHARED_MS,
      now,
    ),
    bitcoinViews: (txid) =>
      Promise.all(esploras.map((esplora) => esplora.tx(txid).catch((error: unknown) => asError(error)))),
    historyOf: (address) => solana.historyOf(address),
    transaction: (signature) => solana.transaction(signature),
    now,
  };
}

/** The service's accounts, and exchanges' wallets, which are never paid automatically. */
type Accounts = Pick<DepositTerms, 'reserve' | 'treasury' | 'heldSenders'>;

/** Rewards for deposits, if their mint is configured. */
function asryRewards(config: Config, solana: SolanaView, terms: DepositTerms): Pick<CustodyDeps, 'asry'> {
  const { ASRY_MINT_ADDRESS: mint, ASRY_SOURCE_ACCOUNT: source } = config;
  if (mint === undefined || missingFor(config, 'asry').length > 0) return {};
  const program = {
    price: config.ASRY_PRICE_USD ?? null,
    ...PROGRAM_TERMS,
  };
  return {
    asry: createAsryPorts(solana, { mint, ...(source ? { source } : {}), terms, program }),
  };
}

/** The daily mint and the ownership proof, if configured. */
function reserveModules(
  config: Config,
  solana: SolanaView,
  bitcoinAddress: string,
  { rpc, esploras, readPrices, signer, proofSigner, within }: CustodyPlatform,
): Pick<CustodyDeps, 'absr' | 'proof'> {
  const { ABSR_MINT_ADDRESS: mint, PUBLIC_BASE_URL: publicBaseUrl } = config;
  const sources: ReserveSources = {
    indexes: esploras,
    nodes: rpc.nodes,
    bitcoinAddress,
    solanaAddress: signer.address,
    absrMint: mint ?? null,
  };
  const viewsAt = (depth: number) => reserveViews(sources, depth, within);
  return {
    ...(mint && missingFor(config, 'mint').length === 0
      ? {
          absr: {
            mint,
            treasury: config.TREASURY_SOLANA_ADDRESS ?? signer.address,
            nodes: rpc.nodes.length,
            indexes: esploras.length,
            reserveViews: viewsAt,
            supplyViews: () => supplyViews(sources, within),
            readPrices,
            latestBlockhash: () => solana.latestBlockhash(),
            ...mintWitness(config, solana, signer.address),
          },
        }
      : {}),
    ...(publicBaseUrl
      ? {
          proof: {
            service: new URL(publicBaseUrl).host,
            bitcoinAddress,
            signer: proofSigner,
            indexes: esploras.length,
            reserveViews: viewsAt,
            solanaFigures: () => solanaFigures(sources, within),
          },
        }
      : {}),
  };
}

/** The second key of the mint authority, if configured. */
function mintWitness(config: Wired, solana: SolanaView, reserveAddress: string): Pick<AbsrPorts, 'witness'> {
  const { ABSR_WITNESS_URL: baseUrl, ABSR_MINT_AUTHORITY: multisig } = config;
  if (baseUrl === undefined || multisig === undefined) return {};
  const { cosign } = createMintWitness({ baseUrl, fetch: fetchFor(config, 'ABSR_WITNESS_URL') });
  return {
    witness: {
      multisig,
      async readMultisig() {
        const found = await solana.agreed(`multisig ${multisig}`, async (node) => {
          const [account] = (await node.accounts([multisig], 'finalized')).accounts;
          return (account && decodeMultisig(account.owner, account.data)) ?? null;
        });
        const witness = found?.signers.find((key) => key !== reserveAddress);
        const isPair = found?.required === 2 && found.signers.length === 2;
        return isPair && witness && found.signers.includes(reserveAddress)
          ? { address: multisig, witness }
          : null;
      },
      async cosign(transaction, witness) {
        const cosignature = await cosign(transaction);
        const { message, first } = ofTwoSigners(base64.decode(transaction));
        const key = await verifyingKey(decodeBase58(witness, 32) ?? new Uint8Array());
        if (!key || !(await isSignedBy(key, message, cosignature)))
          throw upstreamFailed('witness', 'witness_wrong_signature');
        return base64.encode(signedTransaction(message, [first, cosignature]).wire);
      },
    },
  };
}

/** Token creations and listings, if configured: the module that accepts payments, and the kind that creates mints. */
function paidRequests(
  config: Wired,
  solana: SolanaView,
  { treasury: treasuryAddress, heldSenders: heldPayers }: Accounts,
  { rpc, mintKeys, now, randomBytes, randomId, lookUp }: CustodyPlatform & { readonly lookUp: LookUp },
): Pick<CustodyDeps, 'payments'> {
  const { PUBLIC_BASE_URL: publicBaseUrl } = config;
  if (!mintKeys || !publicBaseUrl || missingFor(config, 'payments').length > 0) return {};
  const leastBalance = () => solana.agreed('rent', (node) => node.rentExemption(0));
  // All callers that open an invoice share one read.
  const sharedLeast = shared(leastBalance, RENT_SHARED_MS, now);
  return {
    payments: {
      treasuryAddress,
      heldPayers,
      lookUp,
      latestBlockhash: () => solana.latestBlockhash(),
      balanceOf: (address) => solana.balanceOf(address),
      leastBalance,
      nodes: rpc.nodes,
      transaction: (signature) => solana.transaction(signature),
      listingFacts: async (mint) => {
        const read = async (node: SolanaNode) => {
          const [account, metaplex] = (await node.accounts(listingAccounts(mint), 'finalized')).accounts;
          return listingFacts(mint, account, metaplex);
        };
        // Nodes differ in the supply while tokens are minted or burned.
        const withoutSupply = (facts: ListingFacts) =>
          facts.type === 'refused' ? facts : { ...facts.token, supply: null };
        return solana.agreed(`listing of ${mint}`, read, withoutSupply);
      },
      randomBytes,
      randomId,
      mintAddress: mintKeys.address,
      metadataUri: (mint) => `${publicBaseUrl}/api/tokens/${mint}/metadata.json`,
      creationCost: costOfCreation(sharedLeast),
      creation: createTokenKind({
        signMint: mintKeys.sign,
        leastBalance,
        latestBlockhash: () => solana.latestBlockhash(),
        findMint: (address) =>
          solana.agreed(`mint ${address}`, async (node) => {
            const [found] = (await node.accounts([address], 'finalized')).accounts;
            const decoded = found && decodeMint(found.owner, found.data);
            return found
              ? { owner: found.owner, supply: decoded?.supply ?? 0n, decimals: decoded?.decimals ?? -1 }
              : null;
          }),
      }),
    },
  };
}

const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
