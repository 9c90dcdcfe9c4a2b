/**
 * The code that confirms an irreversible command. It changes when the facts that the command shows change, so the
 * operator confirms only what was shown.
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

export const codeOf = (command: string, ...facts: readonly (string | number)[]): string =>
  bytesToHex(sha256(utf8ToBytes([command, ...facts].join(' ')))).slice(0, 8);
