/**
 * Compares the proof with two Bitcoin explorers and a Solana node that do not belong to the service, from the visitor's
 * browser. No request leaves before the visitor presses the button.
 * @module
 */

import { type ExplorerReads, explorerReport } from '../../src/chain/bitcoin/proof-evidence.ts';
import {
  type CheckLine,
  checkBitcoin,
  checkFigures,
  checkSolana,
  type PublishedProof,
  readOrContradict,
} from '../../src/chain/bitcoin/proof-lines.ts';
import {
  type MintKeys,
  mintAuthorityOf,
  mintKeysOf,
  type OwnedAccount,
} from '../../src/chain/solana/mint-keys.ts';
import type { Sources } from '../build/host-files.ts';
import { isSignedInBrowser } from './solana-signature.ts';

/** A source that has not responded to every read within this time is treated as unreachable. */
const PATIENCE_MS = 8_000;

type Fields = Readonly<Record<string, unknown>>;
const fields = (value: unknown): Fields => {
  if (typeof value !== 'object' || value === null) throw new TypeError('not an object');
  return value as Fields;
};
const rows = (value: unknown): readonly Fields[] => {
  if (!Array.isArray(value)) throw new TypeError('not a list');
  return value.map(fields);
};
/** Sats and heights are exact in a double: 21 million BTC are less than 2^53 sats. */
const whole = (value: unknown): bigint => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new TypeError('not a whole number');
  return BigInt(value);
};
const text = (value: unknown): string => {
  if (typeof value !== 'string') throw new TypeError('not text');
  return value;
};

async function readText(url: string, signal: AbortSignal, init: RequestInit = {}): Promise<string> {
  const response = await fetch(url, {
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    cache: 'no-store',
    signal,
    ...init,
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}

const readJson = async (url: string, signal: AbortSignal, init?: RequestInit): Promise<unknown> =>
  JSON.parse(await readText(url, signal, init));

const paid = (output: Fields) => ({
  address: typeof output.scriptpubkey_address === 'string' ? output.scriptpubkey_address : null,
  value: whole(output.value),
});

/** The members of an Esplora transaction that are used here. */
function transaction(row: Fields) {
  const { block_height: height } = fields(row.status);
  return {
    txid: text(row.txid),
    height: height === undefined ? null : Number(whole(height)),
    inputs: rows(row.vin).flatMap(({ prevout }) => (prevout ? [paid(fields(prevout))] : [])),
    outputs: rows(row.vout).map(paid),
  };
}

/** Reads of an Esplora API, all within the time of one source. */
function readsOf(base: string): ExplorerReads {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const at = (address: string) => `${base}/address/${encodeURIComponent(address)}`;
  return {
    name: new URL(base).host,
    async balance(address) {
      const stats = fields(fields(await readJson(at(address), signal)).chain_stats);
      return whole(stats.funded_txo_sum) - whole(stats.spent_txo_sum);
    },
    async page(address, last) {
      const after = last === undefined ? '' : `/${encodeURIComponent(last)}`;
      return rows(await readJson(`${at(address)}/txs/chain${after}`, signal)).map(transaction);
    },
    blockHash: async (height) => (await readText(`${base}/block-height/${height}`, signal)).trim(),
  };
}

/** The supply at the first node that responds; all nodes share the time of one source. */
async function supplyOf(mint: string, rpcUrls: readonly string[]) {
  for (const url of rpcUrls) {
    try {
      const answer = fields(
        await readJson(url, AbortSignal.timeout(PATIENCE_MS / rpcUrls.length), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'getTokenSupply',
            params: [mint, { commitment: 'finalized' }],
          }),
        }),
      );
      const { context, value } = fields(answer.result);
      const { amount, decimals } = fields(value);
      if (!/^\d{1,20}$/.test(text(amount))) throw new TypeError('not an amount');
      const slot = BigInt(whole(fields(context).slot));
      return { atoms: BigInt(text(amount)), decimals: Number(whole(decimals)), slot, changed: null };
    } catch {
      // The next node may respond.
    }
  }
  return null;
}

/** Who can mint, at the first node that responds; null when none does. */
async function mintKeysAt(mint: string, rpcUrls: readonly string[]): Promise<MintKeys | null> {
  for (const url of rpcUrls) {
    const signal = AbortSignal.timeout(PATIENCE_MS / rpcUrls.length);
    try {
      const found = await accountAt(url, mint, signal);
      const authority = found ? mintAuthorityOf(found.data) : undefined;
      if (!found || authority === undefined) throw new TypeError('not a mint');
      const account = authority === null ? null : await accountAt(url, authority, signal);
      return mintKeysOf(found.owner, authority, account);
    } catch {
      // The next node may respond.
    }
  }
  return null;
}

async function accountAt(url: string, address: string, signal: AbortSignal): Promise<OwnedAccount | null> {
  const params = [[address], { commitment: 'finalized', encoding: 'base64' }];
  const answer = fields(
    await readJson(url, signal, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getMultipleAccounts', params }),
    }),
  );
  const { value } = fields(answer.result);
  const [account] = Array.isArray(value) ? value : [];
  if (account === null) return null;
  const { data, owner } = fields(account);
  const base64 = text(Array.isArray(data) ? data[0] : undefined);
  return { owner: text(owner), data: Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)) };
}

/** @param show receives each finding as soon as it is known */
export async function verify(
  proof: PublishedProof,
  sources: Sources,
  show: (line: CheckLine) => void,
): Promise<void> {
  const message = readOrContradict(proof.message);
  if (Array.isArray(message)) return message.forEach(show);
  const reports = Promise.all(sources.explorers.map((base) => explorerReport(readsOf(base), message)));
  const supplied = message.absr ? supplyOf(message.absr.mint, sources.rpcUrls) : null;
  const minting = message.absr ? mintKeysAt(message.absr.mint, sources.rpcUrls) : null;
  show(checkBitcoin({ proof }, message));
  show(checkSolana({ proof }, message, await isSignedInBrowser(proof.message, proof.solana)));
  const known = { proof, host: location.host, explorers: await reports, now: Date.now() };
  const [reserve, , , freshness] = checkFigures({ ...known, supply: null, mintKeys: null }, message);
  show(reserve);
  show(freshness);
  const [, supply, mint] = checkFigures(
    { ...known, supply: await supplied, mintKeys: await minting },
    message,
  );
  show(supply);
  show(mint);
}
