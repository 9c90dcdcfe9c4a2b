import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * A short name of a database schema: the same columns give the same name, regardless of their order and of
 * the statements that created them.
 *
 * @param columns each as `table.column`
 */
export const schemaFingerprint = (columns: readonly string[]): string =>
  bytesToHex(sha256(utf8ToBytes([...columns].sort().join('\n')))).slice(0, 12);
