/**
 * The settings of the witness. Settings that the service also has use the same syntax. The key, the nodes and the
 * indexes are the witness's own.
 * @module
 */
import * as z from 'zod';
import type { MintTerms } from '../chain/solana/mint-request.ts';
import { VARIABLES } from '../config.ts';
import { notConfigured } from '../core/errors.ts';
import type { Signer } from '../custody/kernel/ports.ts';
import { createSigner } from '../custody/kernel/signer.ts';

/** With a single node or index, that source's operator would decide alone. */
const severalSources = (schema: z.ZodType<readonly string[]>) =>
  schema.transform((urls) => [...new Set(urls)]).refine((urls) => urls.length >= 2);

const Settings = z.object({
  WITNESS_PRIVATE_KEY: z.string(),
  RESERVE_SOLANA_ADDRESS: VARIABLES.RESERVE_SOLANA_ADDRESS.schema,
  RESERVE_BTC_ADDRESS: VARIABLES.RESERVE_BTC_ADDRESS.schema,
  TREASURY_SOLANA_ADDRESS: VARIABLES.TREASURY_SOLANA_ADDRESS.schema,
  ABSR_MINT_ADDRESS: VARIABLES.ABSR_MINT_ADDRESS.schema,
  ABSR_MINT_AUTHORITY: VARIABLES.ABSR_MINT_AUTHORITY.schema,
  SOLANA_RPC_URL: severalSources(VARIABLES.SOLANA_RPC_URL.schema),
  ESPLORA_API_URLS: severalSources(VARIABLES.ESPLORA_API_URLS.schema),
});

export type WitnessSettings = {
  readonly signer: Signer;
  readonly terms: MintTerms;
  readonly bitcoinAddress: string;
  readonly nodeUrls: readonly string[];
  readonly indexUrls: readonly string[];
};

/** @throws AppError NOT_CONFIGURED names every setting that is missing or malformed */
export function readWitnessSettings(env: object): WitnessSettings {
  const parsed = Settings.safeParse(env);
  if (!parsed.success)
    throw notConfigured([...new Set(parsed.error.issues.map(({ path }) => String(path[0])))]);
  const settings = parsed.data;
  const signer = createSigner(settings.WITNESS_PRIVATE_KEY, 'WITNESS_PRIVATE_KEY');
  const custodian = settings.RESERVE_SOLANA_ADDRESS;
  if (signer.address === custodian) throw notConfigured(['WITNESS_PRIVATE_KEY', 'RESERVE_SOLANA_ADDRESS']);
  return {
    signer,
    terms: {
      custodian,
      multisig: { address: settings.ABSR_MINT_AUTHORITY, witness: signer.address },
      mint: settings.ABSR_MINT_ADDRESS,
      owner: settings.TREASURY_SOLANA_ADDRESS,
    },
    bitcoinAddress: settings.RESERVE_BTC_ADDRESS,
    nodeUrls: settings.SOLANA_RPC_URL,
    indexUrls: settings.ESPLORA_API_URLS,
  };
}
