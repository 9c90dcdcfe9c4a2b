/**
 * The meaning of a refusal by 1Click, parsed from its message. The messages seen in production are in
 * docs/build/upstreams.md.
 * @module
 */
import { parseAmount, SOL_DECIMALS } from '../core/amount.ts';
import { tryJson } from '../core/json.ts';
import { USD_DECIMALS } from '../core/price.ts';
import type { UpstreamResponse } from './http.ts';

/** An amount parsed from a refusal: lamports, or millionths of a dollar. */
export type StatedAmount = { readonly unit: 'lamports' | 'microUsd'; readonly value: bigint };

/**
 * no_route         the service has no liquidity or solver for this amount now
 * pair_paused      the pair is switched off
 * request_invalid  the service rejects a member of our request that callers do not choose
 * bridge_refused   the message is not known
 */
export type RefusalReason =
  | 'amount_too_low'
  | 'amount_too_high'
  | 'no_route'
  | 'pair_paused'
  | 'request_invalid'
  | 'bridge_refused';

/** The response of a working service that does not quote. */
export type BridgeRefusal = {
  readonly reason: RefusalReason;
  /** The smallest amount that the message states. */
  readonly least?: StatedAmount;
  /** The service's message, for the log. */
  readonly text: string;
};

const MAX_TEXT = 300;
/** Members of an error body that contain its message, at any depth. */
const TEXT_MEMBERS =
  /^(message|msg|errors?|detail|details|description|reason|title|cause|data|response|code|error_?code)$/i;
const MAX_DEPTH = 4;
/** A message that is ignored if the body has another one. */
const NAME_OF_STATUS = /^(bad request|unprocessable (entity|content)|(validation )?error|\d+)$/i;

/** Maximum members or entries read at each depth. A body may have hundreds of thousands. */
const MAX_MEMBERS = 50;

/** The messages of an error body. */
function textsOf(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value.slice(0, MAX_TEXT)];
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).flatMap((entry) => textsOf(entry, depth + 1));
  const named = Object.entries(value).filter(([name]) => TEXT_MEMBERS.test(name));
  return named.slice(0, MAX_MEMBERS).flatMap(([, member]) => textsOf(member, depth + 1));
}

/** The message of an error; undefined for an empty body and for a proxy's page. */
function messageOf(body: string): string | undefined {
  const parsed = tryJson(body);
  const isMarkup = /^\s*</.test(body);
  const all = isMarkup ? [] : textsOf(parsed === undefined ? body : parsed).map((text) => text.trim());
  const texts = new Set(all.filter((text) => text !== ''));
  const specific = [...texts].filter((text) => !NAME_OF_STATUS.test(text));
  const message = (specific.length > 0 ? specific : [...texts]).join('; ');
  return message === '' ? undefined : message.slice(0, MAX_TEXT);
}

/** Codes as words: `AMOUNT_TOO_LOW`, `no-liquidity` and `amountTooLow`. Separators inside numbers stay. */
const wordsOf = (message: string): string =>
  message
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-](?!\d{3})/g, ' ')
    .replace(/[’`]/g, "'")
    .replace(/\s+/g, ' ')
    .toLowerCase();

/** The service, or one that it calls, failed. */
const OUTAGE =
  /\binternal( server)? ?error|time(d|s)?[ -]?out|deadline exceeded|\bbusy\b|overload|bad gateway|\b(service|server|system|gateway|upstream|api|backend|database|host|node|rpc)s? (is |are |was )?(temporarily |currently |not |un)*(available|reachable|down|error|failed|failure)|something went wrong|unexpected (error|failure)|unhandled|econn|etimedout|socket hang up|fetch failed|connection (refused|reset|closed)|retries|^(service |temporarily )*unavailable\W*$/;
/** A matching message says that the amount is wrong, even beside an error code such as `UPSTREAM_ERROR`. */
const AMOUNT_IS = /\bamount (is )?too (low|small|high|large|big)\b/;
const isOutage = (words: string): boolean => OUTAGE.test(words) && !AMOUNT_IS.test(words);
const LIMITED = /(rate|quota) exceeded|rate limit|too many \w+|throttl|request limit|requests per/;
/** Words that mean an outage only if no other rule decides. */
const PERHAPS_OUTAGE =
  /\btry again\b|\b(an?|unknown|network|system|temporary) (error|failure)\b|unreachable|not reachable|healthy upstream|connect error|cannot read|failed to fetch/;

/** Members of our request that are settings or constants. */
const OUR_MEMBERS =
  /\b(token ?(in|out)|(origin|destination) ?asset|recipient|refund ?to|deadline|slippage( tolerance)?|dry|(deposit|refund|recipient|swap) ?type|deposit ?mode|quote ?waiting\w*|app ?fees?|referral|api key|jwt|authorization|credentials?)\b/;
const OUR_OTHERS = /\b(tokens?|assets?|chains?|networks?|blockchains?|address(es)?|signature)\b/;
const WRONG =
  /\b((in|un)?valid|must|should|cannot|(not |un)supported|required|missing|unknown|not (be )?found|(could not|cannot) find|malformed|incorrect|wrong|empty|past|expired|revoked|short|long|far|exceeds?|not allowed|allowed|blocked|black ?listed|sanction\w*|too|unexpected|unrecognized|does not exist)\b/;
const UNAUTHORIZED = /\b((un|not )(authori[sz]ed|authenticated)|authentication|forbidden|denied)\b/;
const NOT_NOW = /\b(temporar(y|il)y?|currently|at (the|this) (moment|time)|(right|for) now)\b/;
const AMOUNT = /\bamount|\b(swap|trade|order|deposit|input) (size|value)\b/;

const LIQUIDITY = /liquidity|price impact|\b(routed|filled|fillable)\b/;
const SUPPLY = /\b(solvers?|makers?|quotes?|routes?|paths?|offers?|bids?|inventory|reserves|balance|funds)\b/;
const NONE =
  /\b(no|none|not|cannot|empty|zero|declined|failed|unable|insufficient|unavailable|rejected|without|error)\b|n't\b/;
const PAUSED =
  /\bpairs?\b|paus|disabled|suspend|maintenance|halt|stopped|\bclosed\b|offline|on hold|(switched|turned) off|inactive|deactivated|unavailable|\bnot (currently |temporarily |yet )?(available|enabled|active|open|possible|offered)/;
const INVALID =
  /\b(not valid|invalid|must (not )?(be|have|match|contain)|should (not )?(be|exist)|validation|bad request|malformed|required|missing|json)\b/;

/** With these statuses the service states why it does not quote. With others, the service or a proxy failed. */
const REFUSED = [400, 422];
/** With these statuses only JSON with a known message is a refusal, because proxies also send them. */
const PERHAPS_REFUSED = [401, 403, 404, 409, 451];
/** A proxy's or framework's message for a path that it does not serve. */
const NO_SUCH_PATH = /^cannot (get|post)\b|\bno route matched\b/;

/** True for a failure that often passes when the request is repeated. */
export const isPassingFailure = ({ status, text: body }: UpstreamResponse): boolean =>
  status >= 500 || (REFUSED.includes(status) && isOutage(wordsOf(messageOf(body) ?? '')));

/**
 * Reads a response as a refusal; undefined for a quote, and for a failure of the service or of a proxy.
 * @param amount of the request, which decides the side of a range
 */
export function refusalOf(
  { status, text: body }: UpstreamResponse,
  amount: bigint,
): BridgeRefusal | undefined {
  const message = messageOf(body);
  if (message === undefined || !(REFUSED.includes(status) || PERHAPS_REFUSED.includes(status)))
    return undefined;
  const words = wordsOf(message);
  const isJson = tryJson(body) !== undefined;
  if (!REFUSED.includes(status) && (!isJson || NO_SUCH_PATH.test(words))) return undefined;
  const reason = reasonOf(words, amount);
  if (reason === undefined) return undefined;
  if (reason === 'bridge_refused' && !(isJson && REFUSED.includes(status))) return undefined;
  const least = reason === 'amount_too_low' ? leastOf(words) : undefined;
  return { reason, text: message, ...(least ? { least } : {}) };
}

function reasonOf(words: string, amount: bigint): RefusalReason | undefined {
  if (isOutage(words) || LIMITED.test(words)) return undefined;
  const isWrong = WRONG.test(words) && !AMOUNT.test(words);
  const isTemporary = NOT_NOW.test(words);
  if (isWrong && !isTemporary && OUR_MEMBERS.test(words)) return 'request_invalid';
  const side = POSITIVE.test(words) ? undefined : sideOf(words, amount);
  if (side) return side;
  if (LIQUIDITY.test(words) || (SUPPLY.test(words) && NONE.test(words) && !/\bpairs?\b/.test(words)))
    return 'no_route';
  if (UNAUTHORIZED.test(words)) return 'request_invalid';
  if (isWrong && !isTemporary && OUR_OTHERS.test(words) && !/\bpairs?\b/.test(words))
    return 'request_invalid';
  if (PAUSED.test(words) || (isTemporary && NONE.test(words))) return 'pair_paused';
  if (PERHAPS_OUTAGE.test(words)) return undefined;
  const isInvalid = (AMOUNT.test(words) ? /\b(must|should)\b/ : INVALID).test(words);
  return isInvalid ? 'request_invalid' : 'bridge_refused';
}

type Side = 'amount_too_low' | 'amount_too_high';
const other = (side: Side): Side => (side === 'amount_too_low' ? 'amount_too_high' : 'amount_too_low');

/** Words that show that a bound concerns something other than the amount. */
const OTHER_SUBJECT =
  /\b(liquidity|slippage\w*|deadline|solvers?|impact|confirmations?|price|balance|inventory|requests?|attempts?|time|seconds|ttl|length|decimals|characters|number of)\b/;
const FEE = /\b(fees?|costs?|gas)\b/;
const SUBJECT = new RegExp(
  `amount|deposit|value|\\bsize|swap|trade|order|input|volume|quantity|\\b${FEE.source}|${OTHER_SUBJECT.source}`,
);
/** Comparing words, strongest first. The strongest match decides: "below the minimum 5 (maximum 9)". */
const TOO =
  /\btoo (?<low>low|small|little|tiny)\b|\btoo (?<high>high|large|big|much|great)\b|(?<low2>(insufficient|not enough)( \w+)? amount|(amount|deposit|value)( is| was)? (insufficient|not (enough|sufficient))|(not|n't) (high|large|big) enough|\bdust\b|not (cover|reach|meet)|increase (the|your) amount)|(?<high2>(reduce|decrease) (the|your) amount)/g;
const THAN =
  /\b(?<low>less than|fewer than|lower(?= than| the| your| amount)|smaller(?= than| amount| value)|below|under(?! maintenance))\b|\b(?<high>more than|(greater|larger|higher|bigger)(?= than| or| amount| value)|above|exceed\w*|over(?= [$\d]| the (max|limit|cap)))/g;
const NOUN =
  /\b(?<low>min(imum|imal)?|least|smallest|lowest|or (more|higher|above))\b|\b(?<high>max(imum|imal)?|at most|largest|highest|up to|or (less|lower|below))\b|(?<low2>>=|≥)|(?<high2><=|≤)/g;
const NEEDED =
  /\b(must|should|shall|ha(s|ve) to|needs? to|requires?|required|expected|can|cannot|can't|may|only|use|try|send|enter|please|provide)\b/;
const NEGATED = /\b(no|not|never|cannot)\b|n't\b/;
const STATED_AS_FACT = /\b(is|was|are|were|does|did)(n't| not)\b/;
const RANGE = /\b(between|range|outside|out of bounds)\b/;
const POSITIVE = /\b(greater|more|larger|higher) than (0|zero)\b(?![.,]\d)|\bpositive\b/;

/** Whether a message means that our amount is too low or too high; undefined if it is not about the amount. */
function sideOf(words: string, amount: bigint): Side | undefined {
  if (RANGE.test(words)) return AMOUNT.test(words) ? sideOfRange(words, amount) : undefined;
  for (const comparison of [TOO, THAN, NOUN]) {
    const sides = new Set(sidesOf(words, comparison));
    if (sides.size === 1) return [...sides][0];
    if (sides.size === 2) return sideOfRange(words, amount);
  }
  return undefined;
}

function sideOfRange(words: string, amount: bigint): Side | undefined {
  const least = leastOf(words);
  if (least?.unit !== 'lamports') return undefined;
  return amount < least.value ? 'amount_too_low' : 'amount_too_high';
}

/** Whether each comparison of one kind says too low or too high. "Must be less than" means that the amount is too high. */
function sidesOf(words: string, comparison: RegExp): readonly Side[] {
  return [...words.matchAll(comparison)].flatMap((match): Side[] => {
    const before =
      words
        .slice(0, match.index)
        .split(/[;:!?]|\.(?!\d)/)
        .at(-1) ?? '';
    const after = words.slice(match.index + match[0].length).split(/[;!?]|\.(?!\d)/)[0] ?? '';
    const subject = (SUBJECT.exec(before) ?? SUBJECT.exec(match[0]) ?? SUBJECT.exec(after))?.[0] ?? '';
    const isFee = FEE.test(subject);
    if (OTHER_SUBJECT.test(subject) || (isFee && !AMOUNT.test(words))) return [];
    let side: Side = (match.groups?.low ?? match.groups?.low2) ? 'amount_too_low' : 'amount_too_high';
    if (isFee) side = other(side);
    if (comparison !== THAN) return [side];
    const isNegated = NEGATED.test(before);
    const isNeeded = NEEDED.test(before) || (isNegated && !STATED_AS_FACT.test(before));
    if (isNeeded) side = other(side);
    return [isNegated ? other(side) : side];
  });
}

/** A number after the words for a bound. Groups: words between, unit before, number, attached unit, next word. */
const STATED =
  /(?:\bmin(?:imum|imal)?\b|least|smallest|lowest|\bneeds?\b|than\b|below|under|above|over|exceed\w*|between|from|cover|reach|meet|[>≥]=?)((?:(?!got|sent|received|requested|provided|actual)[^\d;])*?)(us\$|\$|\busd[ct]?|\bw? ?sol|◎)? ?(\d+(?:[,._']\d+| \d{3}(?!\d))*)([%\p{L}\p{Sc}◎]*)(?: ([a-z]+))?/u;
const NUMBER = /^(\d{1,3}([,_' ])\d{3}(\2\d{3})*|\d+)(\.\d+)?$/;
const USD = /^(us\$|\$|usd[ct]?|us|dollars?)$/;
const SOL = /^(w? ?sols?|solana|◎)$/;
const ATOMS = /^(lamports?|atoms?|atomic|base|raw|units?)$/;
/** Words that can follow a number without a unit. Any other word may be a unit. */
const NO_UNIT =
  /^(for|or|to|and|please|when|because|but|if|is|was|required|needed|minimum|min|as|with|at|by|you|your|got|now|instead|given|received|requested|try)?$/;

/**
 * The bound that a message states; undefined without a number, or if the unit is not clearly SOL, lamports or dollars.
 */
function leastOf(words: string): StatedAmount | undefined {
  const [, between = '', before = '', number = '', attached = '', next = ''] = STATED.exec(words) ?? [];
  if (!NUMBER.test(number)) return undefined;
  const digits = number.replace(/[^\d.]/g, '');
  const unit = attached || before || next;
  if (before !== '' && attached !== '') return undefined;
  const named = NO_UNIT.test(unit) ? words.slice(0, words.indexOf(number)) : '';
  if (USD.test(unit) || /\b(usd[ct]?|dollars?)\b/.test(named))
    return stated('microUsd', digits, USD_DECIMALS);
  if (SOL.test(unit)) return stated('lamports', digits, SOL_DECIMALS);
  const isWhole = !digits.includes('.');
  if (/\b(btc|bitcoin|sats?|out|output|receive\w*)\b/.test(between) && named !== '') return undefined;
  if (!isWhole && named !== '' && /\bsol\b/.test(between)) return stated('lamports', digits, SOL_DECIMALS);
  const isAtoms = ATOMS.test(unit) || (NO_UNIT.test(unit) && !/\bsol\b/.test(between));
  return isWhole && isAtoms ? stated('lamports', digits, 0) : undefined;
}

function stated(unit: StatedAmount['unit'], digits: string, decimals: number): StatedAmount | undefined {
  const parsed = parseAmount(digits, decimals);
  return parsed.ok && parsed.atoms > 0n ? { unit, value: parsed.atoms } : undefined;
}
