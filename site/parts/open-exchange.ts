import { readStored, store } from '../api/stored.ts';

/** The open exchange of this browser. The service has no record of it, so a closed tab would lose its address. */
const OPEN = 'exchange';
const readOpen = (value: unknown): string | null =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
    ? value.id
    : null;

export const openExchange = (): string | null => readStored(OPEN, readOpen);
export const keepOpen = (id: string | null): void => store(OPEN, id === null ? null : { id });
