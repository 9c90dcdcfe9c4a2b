/**
 * The settings of the witness. Settings that the service also has take its syntax. The key, the nodes and the indexes are
 * the witness's own.
 * @module
 */
import type { MintTerms } from '../chain/solana/mint-request.ts';
import { VARIABLES } from '../config.ts';
import { notConfigured } from '../core/errors.ts';
import type { Signer } from '../custody/kernel/ports.ts';
import { createSigner } from '../custody/kernel/signer.ts';

const { RESERVE_SOLANA_ADDRESS, RESERVE_BTC_ADDRESS, TREASURY_SOLANA_ADDRESS, ABSR_MINT_ADDRESS } = VARIABLES;
const { ABSR_MINT_AUTHORITY, SOLANA_RPC_URL, ESPLORA_API_URLS } = VARIABLES;

/** With one node or index, whoever answers for it decides. */
const LEAST_SOURCES = 2;

export type WitnessSettings = {
  readonly signer: Signer;
  readonly terms: MintTerms;
  readonly bitcoinAddress: string;
  readonly nodeUrls: readonly string[];
  readonly indexUrls: readonly string[];
};

/** @throws AppError NOT_CONFIGURED names every setting that is missing or malformed */
export function readWitnessSettings(env: object): WitnessSettings {
  const wrong: string[] = [];
  function read<T>(
    name: string,
    schema: { safeParse(text: unknown): { success: boolean; data?: T } },
  ): T | undefined {
    const parsed = schema.safeParse(Reflect.get(env, name));
    if (!parsed.success) wrong.push(name);
    return parsed.data;
  }
  const custodian = read('RESERVE_SOLANA_ADDRESS', RESERVE_SOLANA_ADDRESS.schema);
  const bitcoinAddress = read('RESERVE_BTC_ADDRESS', RESERVE_BTC_ADDRESS.schema);
  const owner = read('TREASURY_SOLANA_ADDRESS', TREASURY_SOLANA_ADDRESS.schema);
  const mint = read('ABSR_MINT_ADDRESS', ABSR_MINT_ADDRESS.schema);
  const multisig = read('ABSR_MINT_AUTHORITY', ABSR_MINT_AUTHORITY.schema);
  const nodeUrls = read('SOLANA_RPC_URL', SOLANA_RPC_URL.schema);
  const indexUrls = read('ESPLORA_API_URLS', ESPLORA_API_URLS.schema);
  if (nodeUrls && new Set(nodeUrls).size < LEAST_SOURCES) wrong.push('SOLANA_RPC_URL');
  if (indexUrls && new Set(indexUrls).size < LEAST_SOURCES) wrong.push('ESPLORA_API_URLS');
  const key: unknown = Reflect.get(env, 'WITNESS_PRIVATE_KEY');
  if (typeof key !== 'string') wrong.push('WITNESS_PRIVATE_KEY');
  if (
    typeof key !== 'string' ||
    !custodian ||
    !bitcoinAddress ||
    !owner ||
    !mint ||
    !multisig ||
    !nodeUrls ||
    !indexUrls ||
    wrong.length > 0
  )
    throw notConfigured(wrong);
  const signer = createSigner(key, 'WITNESS_PRIVATE_KEY');
  if (signer.address === custodian) throw notConfigured(['WITNESS_PRIVATE_KEY', 'RESERVE_SOLANA_ADDRESS']);
  return {
    signer,
    terms: { custodian, multisig: { address: multisig, witness: signer.address }, mint, owner },
    bitcoinAddress,
    nodeUrls: [...new Set(nodeUrls)],
    indexUrls: [...new Set(indexUrls)],
  };
}
