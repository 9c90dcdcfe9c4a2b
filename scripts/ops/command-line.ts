/** Turns the operator's command line into the request that is sent. */

/** A command that is sent to `POST /api/ops`, and the arguments that follow its name. */
type Remote = {
  readonly words: readonly string[];
  readonly does: string;
  /** The command changes nothing, so it may address the only running offline world without `--world`. */
  readonly reads?: true;
  /** The result on stdout is a text to be used unchanged. */
  readonly prints?: 'text';
  readonly send: (...given: string[]) => Readonly<Record<string, unknown>>;
};

const plain = (name: string, does: string): Remote => ({ words: [], does, send: () => ({ name }) });
const withId = (name: string, does: string, word = '<id>'): Remote => ({
  words: [word],
  does,
  send: (id) => ({ name, id }),
});
const reading = (name: string, does: string): Remote => ({ ...plain(name, does), reads: true });

export const REMOTE: Readonly<Record<string, Remote>> = {
  state: reading('state', 'show on one screen what waits, what is owed, what fails and what is left'),
  pause: plain('pause', 'stop signing new transactions'),
  resume: plain('resume', 'allow signing again'),
  operations: reading('operations', 'list the newest operations'),
  retry: withId('retry', 'check an operation again now'),
  'write-off': withId('write-off', 'stop waiting for what a bridge still owes, and count it as lost'),
  refund: withId('refund', 'refund what is owed, to its payer', '<invoice|listing|payment>'),
  unmatched: reading(
    'unmatched',
    'list the largest payments that matched no order, and payments not recorded yet',
  ),
  evidence: {
    ...withId('evidence', 'print what a support request to the bridge needs about a swap, as JSON on stdout'),
    reads: true,
    prints: 'text',
  },
  unfreeze: plain(
    'unfreeze',
    'end the freeze of a complete restored journal, or show the cause of any other freeze, and the code that confirms it',
  ),
  'unfreeze --confirm': withId(
    'unfreeze',
    'end a freeze that you can explain; signing stays paused',
    '<code>',
  ),
  'restore-storage': withId(
    'restore-storage',
    'restore the storage of the custodian (never tried in production)',
    '<ISO time>',
  ),
  'begin-anew': reading(
    'begin-anew',
    'show how a lost journal would be replaced with an empty one, and the code that confirms it',
  ),
  'begin-anew --confirm': withId('begin-anew', 'replace a lost journal with an empty one', '<code>'),
  republish: plain('republish', 'send every row to D1 again, and list the rows that it refuses'),
  'test-alarm': plain('test-alarm', 'send a test alarm to the webhook'),
  probe: reading('probe', 'let the deployed Worker call every source once'),
  fingerprint: reading('fingerprint', 'show which MINT_KEY_SEED the service has; the doctor compares it'),
  'refund-due': reading('refund-due', 'list the payments that bought nothing'),
  'refund-due --page': {
    words: ['<number>'],
    does: 'list them from another page, of 200 payments each',
    send: (page) => ({ name: 'refund-due', page: Number(page) }),
    reads: true,
  },
  'mint --dry-run': {
    words: [],
    does: 'show what the daily mint would do now, and its history',
    reads: true,
    send: () => ({ name: 'mint-preview' }),
  },
  'proof message': {
    ...plain('proof-message', 'print the text to sign offline, on stdout'),
    prints: 'text',
  },
  'proof submit': {
    words: ['<signature>'],
    does: 'submit the signature of that text',
    send: (signature) => ({ name: 'proof-submit', signature }),
  },
};

export function readCommandLine(given: readonly string[]) {
  const args = given.filter((word) => word !== '--world');
  const world = args.length < given.length;
  const [first, flag, file] = args;
  const usage = { type: 'usage' as const };
  if (first === 'evacuate') return world ? usage : (evacuation(args.slice(1)) ?? usage);
  if (first === 'mint-authority') return world ? usage : (mintAuthority(args.slice(1)) ?? usage);
  const hasOnly = (name: string) => !world && (args.length === 1 || (args.length === 3 && flag === name));
  if (first === 'keygen' && flag === '--witness' && args.length === 2)
    return { type: 'witness-key' as const };
  if (first === 'keygen') return hasOnly('--out') ? { type: 'keygen' as const, out: file } : usage;
  if (first === 'address')
    return hasOnly('--settings') ? { type: 'address' as const, settings: file } : usage;
  for (const [name, { words, send, reads, prints = 'report' }] of Object.entries(REMOTE)) {
    const parts = name.split(' ');
    if (args.length !== parts.length + words.length || parts.some((part, at) => args[at] !== part)) continue;
    const body = send(...args.slice(parts.length));
    return { type: 'remote' as const, body, world, changes: !reads, prints };
  }
  return usage;
}

/** `[--settings FILE] [--witness-settings FILE] [--send]` in any order. */
function evacuation(args: readonly string[]) {
  const named = namedBy(args, ['--settings', '--witness-settings']);
  return (
    named && {
      type: 'evacuate' as const,
      settings: named.get('--settings'),
      witness: named.get('--witness-settings'),
      send: args.includes('--send'),
    }
  );
}

/** The values that follow these names, without `--send`; undefined if another word is among them. */
function namedBy(args: readonly string[], names: readonly string[]): ReadonlyMap<string, string> | undefined {
  const pairs = args.filter((word) => word !== '--send');
  const named = new Map(pairs.flatMap((word, at) => (at % 2 === 0 ? [[word, pairs[at + 1] ?? '']] : [])));
  const isKnown = [...named].every(([name, value]) => names.includes(name) && value !== '');
  return isKnown && pairs.length === 2 * named.size ? named : undefined;
}

/** `--witness ADDRESS [--settings FILE] [--send]` in any order. */
function mintAuthority(args: readonly string[]) {
  const send = args.includes('--send');
  const named = namedBy(args, ['--witness', '--settings']);
  const witness = named?.get('--witness');
  if (!named || !witness) return undefined;
  return { type: 'mint-authority' as const, witness, settings: named.get('--settings'), send };
}

export const USAGE = [
  'npm run ops -- COMMAND [--world]',
  '  keygen [--out FILE]       create keys and secrets on this machine; with --out in a file that only you can read',
  '  address [--settings FILE] print the address of SOLANA_PRIVATE_KEY from the environment or FILE (.dev.vars)',
  '  keygen --witness          create the key of a mint witness, and print it with its address',
  '  mint-authority --witness ADDRESS [--settings FILE] [--send]',
  '                            show, and with --send send, the hand-over of the mint authority of ABSR to two keys',
  '  evacuate [--settings FILE] [--witness-settings FILE] [--send]',
  '                            show, and with --send send, all that a stolen key can move to EVACUATION_ADDRESS',
  ...Object.entries(REMOTE).map(
    ([name, { words, does }]) => `  ${[name, ...words].join(' ').padEnd(25)} ${does}`,
  ),
  'All other commands call the service at API_BASE_URL with OPS_SECRET, both from the environment,',
  'and print this target first. With --world they call the offline world that runs on this machine. Commands that only',
  'read call it also without --world if API_BASE_URL and OPS_SECRET are not set.',
].join('\n');
