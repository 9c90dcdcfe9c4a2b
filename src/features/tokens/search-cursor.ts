/**
 * The cursor of a search as its caller sees it: opaque text that only this service reads.
 * @module
 */
import { base64urlnopad } from '@scure/base';
import * as z from 'zod';
import type { SearchCursor } from './search-store.ts';

const Cursor = z.tuple([z.int().min(0).max(5), z.string().max(400), z.int().min(-1)]);

export const encodeCursor = ({ step, text, tokenId }: SearchCursor): string =>
  base64urlnopad.encode(new TextEncoder().encode(JSON.stringify([step, text, tokenId])));

/** Undefined for text that this service did not make. */
export function decodeCursor(text: string): SearchCursor | undefined {
  try {
    const bytes = base64urlnopad.decode(text);
    const [step, sort, tokenId] = Cursor.parse(JSON.parse(new TextDecoder().decode(bytes)));
    return { step, text: sort, tokenId };
  } catch {
    return undefined;
  }
}
