/**
 * How an operation looks from outside: the contract knows three states.
 * @module
 */
import type { Operation } from './operation.ts';

export type PublicStatus = 'waiting' | 'finished' | 'failed';

export function mirrorStatus(operation: Operation): PublicStatus {
  switch (operation.state) {
    case 'done':
      return 'finished';
    case 'failed':
      return 'failed';
    default:
      return 'waiting';
  }
}
