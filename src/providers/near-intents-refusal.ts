/**
 * The meaning of a refusal of 1Click, read from its text. The texts seen in production are in docs/build/upstreams.md.
 * @module
 */
import * as z from 'zod';
import { parseAmount, SOL_DECIMALS } from '../core/amount.ts';
import { tryJson } from '../core/json.ts';
import { USD_DECIMALS } from '../core/price.ts';
import type { UpstreamResponse } from './http.ts';

/** An amount that a text states: atoms of the origin asset (lamports), or millionths of a dollar. */
export type StatedAmount = { readonly unit: 'lamports' | 'microUsd'; readonly value: bigint };

/**
 * no_route         the service has no liquidity or solver for this amount now
 * pair_paused      the pair is switched off
 * request_invalid  the service rejects a member of our request that no caller chooses
 * bridge_refused   the text is not known
 */
export type RefusalReason =
  | 'amount_too_low'
  | 'amount_too_high'
  | 'no_route'
  | 'pair_paused'
  | 'request_invalid'
  | 'bridge_refused';

/** A response of a service that works and gives no quote. */
export type BridgeRefusal = {
  readonly reason: RefusalReason;
  /** The smallest amount that the text names. */
  readonly least?: StatedAmount;
  /** The service's text, for the log. */
  readonly text: string;
};

const MAX_TEXT = 300;
const text = z.string();
const Body = z.object({
  message: z.union([text, z.array(text)]).optional(),
  error: z.union([text, z.object({ message: text })]).optional(),
});

/** The text of a JSON error; undefined for the body of a proxy. */
function messageOf(body: string): string | undefined {
  const { data } = Body.safeParse(tryJson(body));
  const error = typeof data?.error === 'object' ? data.error.message : data?.error;
  const message = data?.message === undefined ? error : [data.message].flat().join(', ');
  return message?.slice(0, MAX_TEXT);
}

/** Members of our request that are settings or constants. */
const OUR_MEMBERS =
  /\b(token_?(in|out)|(origin|destination)_?asset|recipient|refund_?to|deadline|slippage\w*|dry|\w+_?type|deposit_?mode|quote_?waiting\w*|app_?fees|referral)\b/i;
const WRONG =
  /\b((in|un)?valid|must|should|(un)?supported|required|missing|unknown|empty|past|expired|short|long|far|exceeds?|allowed|blocked|sanction\w*)\b/i;
/** Whether a text rejects such a member. A text that also mentions the amount is about the amount. */
const isOurs = (message: string): boolean =>
  OUR_MEMBERS.test(message) && WRONG.test(message) && !/\bamount/i.test(message);

/** The first matching pattern decides. */
const MEANINGS: readonly (readonly [RefusalReason, RegExp])[] = [
  [
    'amount_too_low',
    /too (low|small|little)|\bmin(imum)?\b|below|at least|less than|not cover|insufficient amount/i,
  ],
  ['amount_too_high', /too (high|large|big|much)|\bmax(imum)?\b|at most|exceed|above/i],
  [
    'no_route',
    /liquidity|no[ _-]?(route|quote|solver)s?\b|(failed|unable|could not) to (get|find|fetch)|not find/i,
  ],
  [
    'pair_paused',
    /\bpair\b|paused|disabled|suspended|maintenance|not (currently )?available|unavailable|halted/i,
  ],
  ['request_invalid', /\b(not valid|invalid|must be|should( not)? (be|exist)|validation|bad request)\b/i],
];

const INTERNAL = /internal[ _-]?(server[ _-]?)?error/i;

/** True for a failure that often passes when the request is repeated. */
export const isPassingFailure = ({ status, text: body }: UpstreamResponse): boolean =>
  status >= 500 || (status >= 400 && INTERNAL.test(messageOf(body) ?? ''));

/** Reads a response as a refusal; undefined for a quote, and for a failure of the service or of a proxy. */
export function refusalOf(response: UpstreamResponse): BridgeRefusal | undefined {
  if (response.status !== 400 && response.status !== 422) return undefined;
  const message = messageOf(response.text);
  if (message === undefined || INTERNAL.test(message)) return undefined;
  const meaning = MEANINGS.find(([, pattern]) => pattern.test(message))?.[0] ?? 'bridge_refused';
  const reason = isOurs(message) ? 'request_invalid' : meaning;
  const least = reason === 'amount_too_low' ? leastOf(message) : undefined;
  return { reason, text: message, ...(least ? { least } : {}) };
}

/** A number after the words for a minimum, with its unit before or after it. */
const STATED =
  /(?:at least|\bmin(?:imum)?\b|less than|below)\D*?(\$|usd[ct]?|sol)?\s*(\d+(?:[,_\u00a0\u202f ]\d{3})*(?:\.\d+)?)(?!\d|\.\d|e\d|[km]\b)\s*(\$|[a-z]+)?/i;
const USD = /^(\$|usd[ct]?|dollars?)$/i;
const SOL = /^w?sol$/i;
const ATOMS = /^(lamports?|atoms?|units?)$/i;
/** A unit of another asset; any other word after the number is part of the sentence. */
const OTHER = /^(btc|sats?|satoshis?|eth|near|bps|percent)$/i;

/** The amount that a text states; undefined if it names none, or names another asset. */
function leastOf(message: string): StatedAmount | undefined {
  const [, before, number, after] = STATED.exec(message) ?? [];
  if (number === undefined) return undefined;
  const digits = number.replace(/[^\d.]/g, '');
  const unit = before ?? after ?? '';
  if (OTHER.test(unit)) return undefined;
  if (USD.test(unit)) return stated('microUsd', digits, USD_DECIMALS);
  const isCoins = SOL.test(unit) || (digits.includes('.') && !ATOMS.test(unit));
  return stated('lamports', digits, isCoins ? SOL_DECIMALS : 0);
}

function stated(unit: StatedAmount['unit'], digits: string, decimals: number): StatedAmount | undefined {
  const parsed = parseAmount(digits, decimals);
  return parsed.ok && parsed.atoms > 0n ? { unit, value: parsed.atoms } : undefined;
}
