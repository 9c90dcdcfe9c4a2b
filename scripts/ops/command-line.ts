/** From what was typed to what is sent: the operator's commands as words. */

/** What a command says to `POST /api/ops`; its words follow the name in this order. */
type Remote = {
  readonly words: readonly string[];
  readonly does: string;
  readonly send: (...given: string[]) => Readonly<Record<string, unknown>>;
};

const plain = (name: string, does: string): Remote => ({ words: [], does, send: () => ({ name }) });

export const REMOTE: Readonly<Record<string, Remote>> = {
  pause: plain('pause', 'nothing new is signed'),
  resume: plain('resume', 'signing goes on'),
  operations: plain('operations', 'the newest operations'),
  held: plain('held', 'what waits for you'),
  retry: {
    words: ['<id>'],
    does: 'look at an operation again now',
    send: (id) => ({ name: 'retry', id }),
  },
  refund: {
    words: ['<invoice|listing|payment>'],
    does: 'pay back what is owed, to its payer',
    send: (id) => ({ name: 'refund', id }),
  },
  reconcile: plain('reconcile', 'rebuild a doubted journal from D1 and the chain'),
  republish: plain('republish', 'list the rows that D1 refuses, and try them again'),
  'trust-programs': plain('trust-programs', 'take the programs of the LI.FI route as they are deployed now'),
  balances: plain('balances', 'what reserve and treasury hold'),
  'refund-due': plain('refund-due', 'payments that bought nothing'),
  'mint --dry-run': {
    words: [],
    does: 'what the daily mint would do now, and its history',
    send: () => ({ name: 'mint', dry_run: true }),
  },
  'proof message': plain('proof-message', 'the text to sign offline, on stdout'),
  'proof submit': {
    words: ['<signature>'],
    does: 'hand in the signature of that text',
    send: (signature) => ({ name: 'proof-submit', signature }),
  },
};

export type CommandLine =
  | { readonly type: 'keygen'; readonly out: string | undefined }
  | { readonly type: 'remote'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly type: 'usage' };

export function readCommandLine(args: readonly string[]): CommandLine {
  const [first, ...rest] = args;
  if (first === 'keygen') {
    if (rest.length === 0) return { type: 'keygen', out: undefined };
    return rest.length === 2 && rest[0] === '--out' ? { type: 'keygen', out: rest[1] } : { type: 'usage' };
  }
  for (const [name, { words, send }] of Object.entries(REMOTE)) {
    const parts = name.split(' ');
    if (args.length !== parts.length + words.length || parts.some((part, at) => args[at] !== part)) continue;
    return { type: 'remote', body: send(...args.slice(parts.length)) };
  }
  return { type: 'usage' };
}

export const USAGE = [
  'npm run ops -- COMMAND',
  '  keygen [--out FILE]       fresh keys and secrets, made here; with --out into a file that only you can read',
  ...Object.entries(REMOTE).map(
    ([name, { words, does }]) => `  ${[name, ...words].join(' ').padEnd(25)} ${does}`,
  ),
  'All but keygen call the service at API_BASE_URL with OPS_SECRET, both from the environment; without them, the',
  'offline world that runs on this machine.',
].join('\n');
