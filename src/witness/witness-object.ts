/**
 * The Durable Object of the witness. There is only one, named `witness`, so two requests are never signed at the same
 * time.
 * @module
 */
import { DurableObject } from 'cloudflare:workers';
import { AppError } from '../core/errors.ts';
import { reserveViews } from '../custody/reserve/reserve-views.ts';
import { within } from '../http/within.ts';
import { createEsplora } from '../providers/esplora.ts';
import { createSolanaRpc } from '../providers/solana-rpc.ts';
import { type Cosigned, Witness } from './cosign.ts';
import type { LastSigned } from './decision.ts';
import { readWitnessSettings, type WitnessSettings } from './settings.ts';

/** The public state: the addresses, and the mint that was signed last. */
export type WitnessState = {
  readonly type: 'state';
  readonly witness: string;
  readonly custodian: string;
  readonly mintAuthority: string;
  /** The only address whose coins are counted, and the only owner that receives tokens. */
  readonly bitcoin: string;
  readonly owner: string;
  readonly mint: string;
  /** `at` is ISO 8601, `atoms` decimal text. */
  readonly lastSigned: { readonly signature: string; readonly atoms: string; readonly at: string } | null;
};

/** Settings that are missing or malformed. */
export type NotConfigured = { readonly type: 'not_configured'; readonly settings: readonly string[] };

const LAST = 'last';
const signedKey = (signature: string) => `signed:${signature}`;

export class WitnessObject extends DurableObject<object> {
  #opened: { readonly settings: WitnessSettings; readonly witness: Witness } | undefined;

  cosign(transaction: string): Promise<Cosigned | NotConfigured> {
    return this.#configured(({ witness }) => witness.cosign(transaction));
  }

  state(): Promise<WitnessState | NotConfigured> {
    return this.#configured(async ({ settings }) => {
      const { terms, bitcoinAddress: bitcoin } = settings;
      const { custodian, multisig, mint, owner } = terms;
      const last = this.#last();
      return {
        type: 'state',
        witness: multisig.witness,
        custodian,
        mintAuthority: multisig.address,
        bitcoin,
        owner,
        mint,
        lastSigned: last
          ? { signature: last.signature, atoms: last.atoms, at: new Date(last.at).toISOString() }
          : null,
      };
    });
  }

  #last(): LastSigned | undefined {
    return this.ctx.storage.kv.get<LastSigned>(LAST);
  }

  async #configured<T>(
    work: (opened: { settings: WitnessSettings; witness: Witness }) => Promise<T>,
  ): Promise<T | NotConfigured> {
    try {
      this.#opened ??= this.#open();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const variables = error.details?.variables;
      return { type: 'not_configured', settings: Array.isArray(variables) ? variables.map(String) : [] };
    }
    return work(this.#opened);
  }

  /** @throws AppError NOT_CONFIGURED */
  #open() {
    const settings = readWitnessSettings(this.env);
    const { terms, signer, bitcoinAddress, nodeUrls, indexUrls } = settings;
    const { kv } = this.ctx.storage;
    const callUpstream = (url: string, init?: RequestInit) => fetch(url, init);
    const indexes = indexUrls.map((baseUrl) =>
      createEsplora({ baseUrl, name: new URL(baseUrl).hostname, fetch: callUpstream }),
    );
    const witness = new Witness({
      terms,
      nodes: createSolanaRpc({ urls: nodeUrls, fetch: callUpstream }).nodes,
      indexes: indexes.length,
      reserveViews: (depth) => reserveViews({ indexes, bitcoinAddress }, depth, within),
      within,
      sign: (message) => signer.sign(message),
      stored: {
        last: () => this.#last(),
        sign: async (row) => {
          kv.put(LAST, row);
          kv.put(signedKey(row.signature), true);
          await this.ctx.storage.sync();
        },
        hasSigned: (signature) => kv.get(signedKey(signature)) !== undefined,
      },
      now: Date.now,
    });
    return { settings, witness };
  }
}
