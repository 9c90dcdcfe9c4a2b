/**
 * Text of a message that is ready to be signed, as the journal keeps it while a key service signs it.
 * @module
 */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { Prepared } from './module.ts';

type Ready = Extract<Prepared, { ok: true }>;
type StoredMessage = Pick<Ready, 'ok' | 'plan' | 'claims'> & {
  readonly message: string;
  readonly cosignatures: readonly string[];
  readonly cost: string;
  readonly spend?: string;
  readonly signedAt: {
    readonly slot: string;
    readonly witnesses: readonly { readonly node: string; readonly slot: string; readonly height: string }[];
  };
};

/** JSON of a prepared message; `decodePrepared` reads it back. */
export const encodePrepared = ({ message, cosignatures = [], ...rest }: Ready): string =>
  JSON.stringify(
    { ...rest, message: bytesToHex(message), cosignatures: cosignatures.map(bytesToHex) },
    (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  );

export function decodePrepared(text: string): Ready {
  const { signedAt, message, cosignatures, cost, spend, ...rest } = JSON.parse(text) as StoredMessage;
  return {
    ...rest,
    message: hexToBytes(message),
    cosignatures: cosignatures.map(hexToBytes),
    cost: BigInt(cost),
    ...(spend === undefined ? {} : { spend: BigInt(spend) }),
    signedAt: {
      slot: BigInt(signedAt.slot),
      witnesses: signedAt.witnesses.map(({ node, slot, height }) => ({
        node,
        slot: BigInt(slot),
        height: BigInt(height),
      })),
    },
  };
}
