/**
 * The witness: it reads its own sources and signs one mint at a time. It never retries, sends or pays.
 * @module
 */

import {
  type MintRequest,
  type MintTerms,
  type RequestRefusal,
  readMintRequest,
} from '../chain/solana/mint-request.ts';
import { decodeMint } from '../chain/solana/token-program.ts';
import { decodeBase64 } from '../core/base64.ts';
import { upstreamFailed } from '../core/errors.ts';
import type { Within } from '../custody/kernel/ports.ts';
import {
  agreeAtDepth,
  MINT_CONFIRMATIONS,
  type ReserveView,
  viewsInTime,
} from '../custody/reserve/reserve-views.ts';
import type { SolanaNode } from '../providers/solana-rpc.ts';
import { decideCosignature, type LastSigned, type MintView, type Refusal } from './decision.ts';

export type WitnessNode = Pick<SolanaNode, 'name' | 'id' | 'epochInfo' | 'accounts' | 'isBlockhashValid'>;

export type WitnessPorts = {
  readonly terms: MintTerms;
  readonly nodes: readonly WitnessNode[];
  /** Number of configured Bitcoin indexes. */
  readonly indexes: number;
  /** One view for each index that responds in time. */
  reserveViews(depth: number): Promise<ReserveView[]>;
  /** The ed25519 signature of the witness's key, 64 bytes. */
  sign(message: Uint8Array): Promise<Uint8Array>;
  readonly stored: {
    /** The mint that was signed last. */
    last(): LastSigned | undefined;
    /** Stores a mint before its signature is returned. Durable before the promise resolves. */
    sign(row: LastSigned): Promise<void>;
    /** Whether this transaction has ever been signed. */
    hasSigned(signature: string): boolean;
  };
  readonly now: () => number;
  readonly within: Within;
};

export type Cosigned =
  | { readonly type: 'signed'; readonly signature: Uint8Array }
  | { readonly type: 'refused'; readonly refusal: RequestRefusal | Refusal | 'busy' | 'blockhash_expired' };

export class Witness {
  readonly #ports: WitnessPorts;
  #isBusy = false;

  constructor(ports: WitnessPorts) {
    this.#ports = ports;
  }

  /** @param transaction base64 of a mint that the custodian has signed */
  async cosign(transaction: string): Promise<Cosigned> {
    const wire = decodeBase64(transaction);
    const request = wire ? await readMintRequest(wire, this.#ports.terms) : 'not_a_mint';
    if (typeof request === 'string') return { type: 'refused', refusal: request };
    const { stored } = this.#ports;
    // A node that lags far behind may still accept the blockhash of the last transaction.
    if (stored.last()?.signature === request.signature)
      return { type: 'refused', refusal: 'earlier_mint_open' };
    // Anyone can copy from the chain a mint that this witness has signed, and send it again. Its reads would keep the
    // witness busy when the next mint comes.
    if (stored.hasSigned(request.signature)) return { type: 'refused', refusal: 'blockhash_expired' };
    // Two mints that the reserve covers separately can exceed it together.
    if (this.#isBusy) return { type: 'refused', refusal: 'busy' };
    this.#isBusy = true;
    try {
      return await this.#decide(request);
    } finally {
      this.#isBusy = false;
    }
  }

  async #decide(request: MintRequest): Promise<Cosigned> {
    const { nodes, indexes, reserveViews, stored, sign, now, within, terms } = this.#ports;
    const last = stored.last();
    const [views, reserves] = await Promise.all([
      viewsInTime(nodes, (node) => viewOf(node, terms.mint, request.blockhash), within),
      reserveViews(MINT_CONFIRMATIONS),
    ]);
    const reserve = agreeAtDepth(reserves, MINT_CONFIRMATIONS, indexes);
    const decision = decideCosignature({
      request,
      authority: terms.multisig.address,
      last,
      views,
      nodes: nodes.length,
      reserve,
    });
    if (decision.type === 'refuse') return { type: 'refused', refusal: decision.refusal };
    const { signature: id, atoms } = request;
    const signature = await sign(request.message);
    await stored.sign({ signature: id, atoms: atoms.toString(), at: now(), heights: decision.heights });
    return { type: 'signed', signature };
  }
}

/** One URL may be two machines: a node's height may be this many slots older than its view of the blockhash. */
const MAX_LAG = 16n;

/** @throws AppError UPSTREAM_FAILED */
async function viewOf(node: WitnessNode, mintAddress: string, blockhash: string): Promise<MintView> {
  const finalized = await node.epochInfo('finalized');
  const { slot, accounts } = await node.accounts([mintAddress], 'finalized');
  if (slot < finalized.slot) throw upstreamFailed(node.name, 'behind');
  const [account] = accounts;
  const mint = account && decodeMint(account.owner, account.data);
  if (!mint) throw upstreamFailed(node.name, 'no_such_mint');
  const { program, mintAuthority: authority, supply, decimals } = mint;
  const seen = await node.isBlockhashValid(blockhash, 'confirmed');
  const confirmed = await node.epochInfo('confirmed');
  const hasSeen = seen.valid && confirmed.slot + MAX_LAG >= seen.slot;
  const heightAtBlockhash = hasSeen ? confirmed.blockHeight : null;
  return {
    node: node.id,
    finalizedHeight: finalized.blockHeight,
    program,
    authority,
    supply,
    decimals,
    heightAtBlockhash,
  };
}
