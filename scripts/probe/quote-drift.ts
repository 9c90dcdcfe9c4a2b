/** How the dry quote that the probe got differs in shape from the one that production was recorded with. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Exchange } from './read-only-fetch.ts';
import { shapeDifferences } from './shape.ts';

const RECORDED = join(import.meta.dirname, '../../test/fixtures/recorded/one-click/quote-dry-sol-zec.json');

/** One line for each difference, or one that says there is none; nothing if no quote was answered. */
export function quoteDrift(exchanges: readonly Exchange[]): string[] {
  const recorded: unknown = JSON.parse(readFileSync(RECORDED, 'utf8'));
  return exchanges
    .filter(({ request, status }) => /\/v0\/quote$/.test(request?.url ?? '') && status < 300)
    .flatMap(({ text }) => {
      const differences = shapeDifferences(recorded, readJson(text), ['quoteRequest.referral']);
      return differences.length === 0
        ? ['shape POST /v0/quote: as recorded']
        : differences.map((difference) => `shape POST /v0/quote: ${difference}`);
    });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
