import { describe, expect, it } from 'vitest';
import { type Failure, failureOf } from '../../site/api/call.ts';
import { Canal, type CanalView } from '../../site/parts/canal.tsx';
import { coverageOf } from '../../site/parts/coverage.tsx';
import { ExchangeState } from '../../site/parts/exchange-progress.tsx';
import { worthText } from '../../site/parts/format.ts';
import { together } from '../../site/parts/freshness.tsx';
import { withoutRepeats } from '../../site/parts/nostr-live.tsx';
import { MintLine } from '../../site/parts/official-mints.tsx';
import { levelsOf, SwapGate } from '../../site/parts/overview-flow.tsx';
import { PoolCard, PoolRows } from '../../site/parts/pools-live.tsx';
import { ArchiveTable } from '../../site/parts/proof-archive.tsx';
import { CheckList } from '../../site/parts/proof-check.tsx';
import { waitingText } from '../../site/parts/rhythm.ts';
import { Operations, StatusReport } from '../../site/parts/status-live.tsx';
import { statusSentence } from '../../site/parts/status-sentence.ts';
import { TokenFacts } from '../../site/parts/token-detail.tsx';
import { TokenTile } from '../../site/parts/token-list.tsx';
import { holderFacts } from '../../site/parts/token-view.tsx';
import { lossesOf } from '../../site/parts/trust-dangers.tsx';
import { operatorOf } from '../../site/parts/trust-facts.tsx';
import { keyRows, witnessOf } from '../../site/parts/trust-keys.tsx';
import { VerdictLine, verdictOf } from '../../site/parts/verdict.tsx';
import { VisitorReport } from '../../site/parts/visitors-live.tsx';
import type { CheckLine } from '../../src/chain/bitcoin/proof-lines.ts';
import { POWER_WORDS, powerWords, TOKEN_POWERS } from '../../src/chain/solana/token-powers.ts';
import { exampleOf } from '../kit/example.ts';
import { eachScene, scenes } from '../kit/scenes.ts';

it.each([
  ['waiting', 'waiting', true],
  ['expired', 'expired', false],
  ['finished', 'finished', false],
  ['waiting', 'confirming', false],
] as const)('an exchange that is %s and %s shows a payment: %s', (status, providerStatus, isShown) => {
  const now = { ...exampleOf('getExchangeStatus'), status, providerStatus };
  const html = String(ExchangeState({ now: { ...now, expectedAmountFrom: '0.5' } }));
  for (const part of [now.payinAddress, 'Pay once', '<svg', 'exchanges a different amount'])
    expect([part, html.includes(part)]).toEqual([part, isShown]);
});

it('the status does not call swaps open while they are refused or the custodian does not respond', () => {
  const { custody, ...status } = exampleOf('getStatus');
  const sentence = (change: Partial<typeof custody> | null): string =>
    statusSentence({
      ...status,
      custody: change === null || custody === null ? null : { ...custody, ...change },
    });
  expect(sentence({})).toContain('swaps are open');
  const swapsRefused = { code: 'SWAP_LIMIT_REACHED', since: '2026-11-20T12:00:00.000Z' };
  expect(sentence({ swapsRefused })).toContain('swaps are refused');
  expect(sentence({ paused: 'operator' })).toContain('swaps are paused');
  expect(sentence({ frozen: 'restored' })).toContain('swaps are frozen');
  expect(sentence(null)).toContain('the state of swaps is not known');
});

it('the headline of the status names each open alarm and is green only without alarms', () => {
  const status = { ...exampleOf('getStatus'), ok: true };
  const headline = (alarms: string[] | null): string =>
    /<p class="verdict .*?<\/p>/s.exec(
      String(StatusReport({ status: { ...status, alarms }, bitcoin: null })),
    )?.[0] ?? '';
  expect(headline([])).toMatch(/verdict good.*No alarm is open/s);
  expect(headline(['payment_unmatched', 'sol_low'])).toMatch(
    /verdict warn.*2 alarms are open.*#payment_unmatched.*payment unmatched.*sol low/s,
  );
  expect(headline(null)).toMatch(/verdict warn.*is not known/s);
});

it.each(
  scenes(`
  true  | short   | -138025 | bad  | no  | 138,025 sats missing
  false | covered | 61975   | warn | yes | 61,975 sats more than the supply
  stale | covered | 61975   | good | no  | 61,975 sats more than the supply
  true  | covered | 61975   | good | no  | 61,975 sats more than the supply
  null  | unknown | null    | good | no  | compared when both chains can be read`),
)(
  'with Bitcoin explorers that agree: %s, and a backing that is %s by %s sats, the status is %s, marks the explorers: %s, and says: %s',
  (agreed, state = '', gap = '', kind, marked, text) => {
    const { bitcoin } = exampleOf('getReserves');
    const names = ['esplora-1', 'esplora-2'];
    const status = { ...exampleOf('getStatus'), ok: true, alarms: [] };
    const gapSatoshis = gap === 'null' ? null : gap;
    const html = String(
      StatusReport({
        status: {
          ...status,
          backing: { ...status.backing, state, gapSatoshis },
          upstreams: [...names, 'kraken'].map((name) => ({ ...status.upstreams[0], name, ok: true })),
        },
        bitcoin: {
          ...bitcoin,
          ...{ agreed: agreed === 'stale' ? false : JSON.parse(agreed ?? ''), stale: agreed === 'stale' },
          sources: names.map((name) => ({ name, balanceSatoshis: '1' })),
        },
      }),
    );
    expect(html).toContain(`class="verdict ${kind}"`);
    expect(html.includes('The Bitcoin explorers differ')).toBe(marked === 'yes');
    expect(html.match(/differs</g)?.length ?? 0).toBe(marked === 'yes' ? 2 : 0);
    expect(html).toContain(`>${text}<`);
  },
);

it('combined figures have the age of the oldest figure and the state of the least certain one', () => {
  const failure = failureOf({ kind: 'unreadable', status: 502 });
  const answer = (as_of: string | null, more = {}, failed = false) => ({
    value: as_of === '' ? null : { as_of, stale: false, ...more },
    failure: failed ? failure : null,
  });
  const [old, young] = ['2026-11-20T10:00:00.000Z', '2026-11-20T11:00:00.000Z'];
  expect(together(answer(young), answer(old))).toEqual({ at: old, stale: false, away: false });
  expect(together(answer(old), answer(young, { stale: true }))).toEqual({
    at: old,
    stale: true,
    away: false,
  });
  expect(together(answer(young), answer(''))).toEqual({ at: young, stale: false, away: false });
  expect(together(answer(old), answer(young, {}, true))).toEqual({ at: old, stale: false, away: true });
  expect(together(answer(null), answer(null))).toEqual({ at: null, stale: false, away: false });
});

it('each row of the archive links to its own proof', () => {
  const [proof] = exampleOf('listProofs').proofs;
  const proofs = ['2026-11-21T01:00', '2026-11-20T23:00'].map((time) => ({
    ...proof,
    timestamp: `${time}:00.000Z`,
  }));
  const links = [...String(ArchiveTable({ proofs })).matchAll(/href="([^"]*)"><time dateTime="([^"]*)"/gi)];
  expect(links.map(([, href, time]) => [href, time])).toEqual([
    ['/api/proof/history?limit=1&amp;before=2026-11-21T01%3A00%3A00.001Z', '2026-11-21T01:00:00.000Z'],
    ['/api/proof/history?limit=1&amp;before=2026-11-20T23%3A00%3A00.001Z', '2026-11-20T23:00:00.000Z'],
  ]);
});

it.each([
  [{ frozen: null, paused: null }, null],
  [{ frozen: null, paused: 'disabled' }, 'No new swap can start.'],
  [{ frozen: null, paused: 'operator' }, 'Signing is stopped.'],
  [{ frozen: 'unexpected_debit', paused: null }, 'Signing is stopped.'],
  [{ frozen: 'unexpected_debit', paused: 'disabled' }, 'Signing is stopped.'],
])('the status with %j shows: %s', (stops, title) => {
  const status = exampleOf('getStatus');
  const html = String(
    StatusReport({ status: { ...status, custody: { ...status.custody, ...stops } }, bitcoin: null }),
  );
  const titles = ['No new swap can start.', 'Signing is stopped.'].filter((text) => html.includes(text));
  expect(titles).toEqual(title === null ? [] : [title]);
});

it.each(
  scenes(`
  swap  | 500000000 | signed   | 0.5
  token | 0         | signed   | rent and fees
  absr  | 0         | signed   | network fee
  absr  | 0         | unsigned | none
  swap  | null      | signed   | not known`),
)(
  'the status shows what a %s of %s lamports that is %s moves: %s',
  (kind = '', lamports, state, text = '') => {
    const [first] = exampleOf('getStatus').operations;
    const amountLamports = lamports === 'null' ? null : (lamports ?? null);
    const operation = { ...first, ...{ kind, amountLamports }, signature: state === 'signed' ? MINT : null };
    expect(String(Operations({ operations: [operation] }))).toContain(`>${text}</td>`);
  },
);

const MINT = 'So11111111111111111111111111111111111111112';
const harmless = { ...exampleOf('getToken'), update_authority: null, powers: [] };
const holderText = (token: Parameters<typeof holderFacts>[0]): string =>
  holderFacts(token)
    .map(({ text }) => text)
    .join(' ');
const SAFE = /The supply is fixed|No key can freeze|can never change/;

it('the token page describes a token as safe only if its mint was read and has no powers', () => {
  expect(holderText(harmless)).toMatch(/The supply is fixed.*No key can freeze.*can never change/);
  expect(holderText({ ...harmless, powers: null })).not.toMatch(SAFE);
  expect(holderText({ ...harmless, update_authority: 'address' })).toContain('can change the name');
});

it('if the chain has only a link, the token page says that a web site could change picture and description', () => {
  const linked = { ...harmless, uri: 'https://sluice.test/api/tokens/x/metadata.json' };
  expect(holderText(linked)).toMatch(/link to its data can never change.*could change them/);
  expect(holderText({ ...harmless, uri: null })).toContain('Name and symbol can never change.');
});

it.each(TOKEN_POWERS)('the token page and the list warn of %s and do not call the token safe', (power) => {
  const token = { ...harmless, powers: [power] };
  expect(holderText(token)).toBe(POWER_WORDS[power][1]);
  expect(String(TokenTile({ token }))).toContain(POWER_WORDS[power][0]);
  expect(String(TokenTile({ token }))).not.toContain('supply fixed');
});

it('a power of a newer service is shown as an unknown power', () => {
  expect(powerWords('revoke_all')).toBe(POWER_WORDS.unknown);
  expect(powerWords('toString')).toBe(POWER_WORDS.unknown);
  expect(powerWords('freeze')).toBe(POWER_WORDS.freeze);
});

it('distinguishes an unread mint from one that is not configured', () => {
  const failed = failureOf({ kind: 'unreadable', status: 502 });
  const shown = (mint: string | null | undefined, failure: typeof failed | null) =>
    String(MintLine({ asset: 'ABSR', mint, failure }));
  expect(shown(undefined, null)).toContain('reading');
  expect(shown(undefined, failed)).toContain('not known at the moment');
  expect(shown(null, null)).toContain('not configured');
  expect(shown(MINT, failed)).toContain(`href="/token/${MINT}"`);
});

it.each([
  ['two_keys', 'and the key of a witness'],
  ['reserve', 'at Cloudflare can mint more'],
  ['other', 'other than the reserve'],
  ['later', 'other than the reserve'],
])('the page of an official token whose minter is %s says so', (minter, words) => {
  const record = { ...harmless, mint_authority: MINT, id: null, created_at: null };
  const html = String(
    TokenFacts({ token: { ...record, official: { asset: 'ABSR', minter: minter as 'other' } } }),
  );
  expect(html).toContain('official ABSR');
  expect(html).toContain(words);
  expect(html).not.toContain('not listed');
});

it('the list of tokens says that the rights over a token are not known', () => {
  expect(String(TokenTile({ token: { ...harmless, powers: null, as_of: null } }))).toContain(
    'rights not known',
  );
});

describe('the coverage of the overview', () => {
  const example = exampleOf('getAbsrSummary');
  const summary = (
    supplySatoshis: string | null,
    reserveSatoshis: string | null,
    state: typeof example.coverage.state = 'covered',
  ) => ({ ...example, coverage: { ...example.coverage, supplySatoshis, reserveSatoshis, state } });
  const read = (value: typeof example | null, failure: Failure | null = null) => ({ value, failure });

  it('the coverage is unknown while a figure is unknown or old, and while the service does not respond', () => {
    for (const value of [summary(null, '1'), summary('1', null), summary('1', '2', 'unknown'), null])
      expect(coverageOf(read(value))).toBeNull();
    expect(coverageOf(read(summary('1', '2'), failureOf({ kind: 'unreadable', status: 502 })))).toBeNull();
  });

  it('scales the values of SOL, BTC and ABSR to the largest of them, and returns null for unknown values', () => {
    const reserves = exampleOf('getReserves');
    reserves.bitcoin.balanceSatoshis = '1000000';
    reserves.solana.balanceLamports = '4000000000';
    const prices = { ...summary('500000', '1000000'), solPriceUsd: 100, btcPriceUsd: 80_000 };
    expect(levelsOf(reserves, prices)).toEqual({ sol: 0.5, btc: 1, absr: 0.5 });
    expect(levelsOf(null, null)).toEqual({ sol: null, btc: null, absr: null });
  });

  it('draws each level in proportion to its figure, and no water for zero or an unknown figure', () => {
    const drawn = (levels: CanalView['levels']): number[] => {
      const html = String(Canal({ view: { levels, swapping: false, minting: false } }));
      return [...html.matchAll(/class="level" transform="translate\(0 ([\d.]+)\)"/g)].map(
        ([, y]) => 240 - Number(y),
      );
    };
    const [half = 0, full, ...others] = drawn({ sol: 0.5, btc: 1, absr: null });
    expect([full, others]).toEqual([2 * half, []]);
    expect(drawn({ sol: 0, btc: null, absr: 0.25 })).toEqual([half / 2]);
  });
});

describe('the trust page describes this instance', () => {
  const { solana, bitcoin, ...figures } = exampleOf('getReserves');
  const status = exampleOf('getStatus');
  const limits = Object.entries({
    ...{ day: '10000000000', refunds_day: '500000000', rent_day: '50000000' },
    ...{ failed_payouts_day: '10000000', creations_day: '500', payouts_day: '2000', cost_day: '100000000' },
  }).map(([name, maximum]) => ({ ...status.custody.limits[0], name, maximum }));
  const MINTING: Readonly<Record<string, object | null>> = {
    two_keys: { authority: 'pair', required: 2, signers: [solana.address, 'witness'] },
    one_of_two: { authority: 'pair', required: 1, signers: [solana.address, 'witness'] },
    reserve: { authority: solana.address, required: 1, signers: [solana.address] },
    nobody: { authority: null, required: 0, signers: [] },
    unread: null,
  };
  const reservesOf = (minter: string, watchOnly: string) => ({
    ...figures,
    bitcoin: { ...bitcoin, watchOnly: { yes: true, no: false }[watchOnly] ?? null },
    solana: { ...solana, minting: MINTING[minter] },
  });

  it.each(
    scenes(`
    two_keys   | yes     | other    | Bitcoin key of the reserve | Offline, according to the operator
    two_keys   | yes     | other    | Bitcoin key of the reserve | when the operator signs offline
    two_keys   | no      | other    | Bitcoin key of the reserve | Hot: the service at Cloudflare
    two_keys   | no      | other    | Bitcoin key of the reserve | every 60 minutes and after each mint
    two_keys   | unknown | other    | Bitcoin key of the reserve | Not known at the moment
    two_keys   | no      | other    | Mint authority of ABSR     | Minting needs two keys: the operator's hot key
    one_of_two | no      | other    | Mint authority of ABSR     | An address other than the reserve can mint more
    reserve    | no      | other    | Mint authority of ABSR     | Only the operator's hot key
    nobody     | no      | other    | Mint authority of ABSR     | No more ABSR can be minted
    unread     | no      | other    | Mint authority of ABSR     | Not known at the moment
    two_keys   | no      | other    | Mint authority of ASRY     | An address other than the reserve can mint more
    two_keys   | no      | reserve  | Mint authority of ASRY     | Only the operator's hot key
    two_keys   | no      | nobody   | Mint authority of ASRY     | No more ASRY can be minted
    two_keys   | no      | unread   | Mint authority of ASRY     | Not known at the moment
    two_keys   | no      | other    | Treasury                   | Outside the service: another key`),
  )(
    'with ABSR minted by %s, an offline Bitcoin key: %s, and ASRY minted by %s, the row "%s" says: %s',
    (...scene) => {
      const [absr = '', watchOnly = '', minter = '', name, text] = scene;
      const token = { ...exampleOf('getToken'), official: { asset: 'ASRY', minter } };
      const asry =
        minter === 'unread' ? null : { ...token, mint_authority: minter === 'nobody' ? null : 'key' };
      const shown = keyRows({ reserves: reservesOf(absr, watchOnly), proof: null, treasury: 'other', asry });
      expect(String(shown.find(([key]) => key === name))).toContain(text);
    },
  );

  it.each(limits.map(({ name }) => name))(
    'the trust page states no daily limit while %s is not known',
    (missing) => {
      const known = limits.filter(({ name }) => name !== missing);
      const facts = { reserves: null, treasury: null, epochs: null };
      const losses = lossesOf({
        ...facts,
        status: { ...status, custody: { ...status.custody, limits: known } },
      });
      expect(losses[0]?.[1]).toContain('The daily limits are not known at the moment.');
    },
  );

  it('the trust page says what a day of swaps loses at most while prices are true', () => {
    const facts = { reserves: null, treasury: null, epochs: null };
    const [sol] = lossesOf({ ...facts, status: { ...status, custody: { ...status.custody, limits } } });
    expect(sol?.[1]).toContain('While prices are true, the swaps of a day lose at most 0.1 SOL.');
  });

  it('the trust page says that the treasury is the reserve if both have one address', () => {
    const reserves = reservesOf('two_keys', 'no');
    const facts = { reserves, proof: null, asry: null, status: null, epochs: null, treasury: solana.address };
    expect(String(keyRows(facts).at(-1))).toContain("The reserve's own Solana key");
    expect(String(lossesOf(facts))).toContain('all payments, because the treasury is the reserve itself');
  });

  it.each(
    scenes(`
    two_keys   | yes     | null       | BTC of the reserve | a break-in at the service does not reach it
    two_keys   | no      | null       | BTC of the reserve | which is in the service
    two_keys   | unknown | null       | BTC of the reserve | not known at the moment
    two_keys   | no      | null       | ABSR               | With that key and the witness's: any amount
    one_of_two | no      | null       | ABSR               | With the mint authority
    reserve    | no      | null       | ABSR               | With the Solana key: any amount
    nobody     | no      | null       | ABSR               | nobody can mint
    unread     | no      | null       | ABSR               | not known at the moment
    two_keys   | no      | null       | ASRY               | all ASRY that this key may pay out
    two_keys   | no      | 2500000000 | ASRY               | the 2.5 ASRY that a cold account still allows
    two_keys   | no      | null       | SOL of the reserve | never more than the reserve holds
    two_keys   | no      | null       | SOL of the reserve | at most 10 SOL of swaps, 0.5 SOL of refunds, 0.06 SOL for accounts
    two_keys   | no      | null       | SOL of the reserve | the costs of 500 token creations and 2,000 rewards.`),
  )(
    'with ABSR minted by %s, an offline Bitcoin key: %s, and an ASRY allowance of %s, the largest loss of "%s" is: %s',
    (...scene) => {
      const [absr = '', watchOnly = '', allowed = '', name, text] = scene;
      const shown = lossesOf({
        reserves: reservesOf(absr, watchOnly),
        treasury: null,
        status: { ...status, custody: { ...status.custody, limits } },
        epochs: { ...exampleOf('getAsryEpoch'), allowanceAtomic: allowed === 'null' ? null : allowed },
      });
      expect(shown.find(([what]) => what === name)?.[1]).toContain(text);
    },
  );
});

it.each(
  scenes(`
  covered | 61975 | 61,975 sats wait for the next mint.
  covered | 1     | 1 sat waits for the next mint.
  covered | 0     |
  short   | -5    |
  unknown | 5     |`),
)(
  'of a reserve that is %s with a gap of %s sats, this waits: %j',
  (state = '', gapSatoshis = '', text = '') => {
    expect(waitingText({ state, gapSatoshis })).toBe(text);
  },
);

describe('the witness of mints on the trust page', () => {
  const { solana } = exampleOf('getReserves');
  const reserve = String(solana.address);
  const shown = (authority: string | null, required: number, signers: string[]) =>
    witnessOf({ ...solana, minting: { authority, required, signers } });

  it('shows the other key of a 2-of-2 multisig of the reserve as the witness', () => {
    expect(shown('multisig', 2, [reserve, 'witness'])).toMatchObject({ key: 'witness' });
    expect(shown('multisig', 2, ['witness', reserve])).toMatchObject({ key: 'witness' });
  });

  it.each<[string, string | null, number, string[], string]>([
    ['the reserve mints alone', reserve, 1, [reserve], 'mints alone'],
    ['one of two keys is enough', 'multisig', 1, [reserve, 'witness'], 'Another authority mints: multisig'],
    ['a third key signs', 'multisig', 2, [reserve, 'witness', 'third'], 'Another authority mints: multisig'],
    ['another key mints', 'stranger', 1, ['stranger'], 'Another authority mints: stranger'],
    ['nobody mints', null, 0, [], 'Nobody can mint'],
  ])('the trust page shows no witness when %s', (_, authority, required, signers, text) => {
    const { key, where } = shown(authority, required, signers);
    expect([key, where]).toEqual([null, expect.stringContaining(text)]);
  });

  it('the trust page calls the witness unknown while the chain or the service does not respond', () => {
    for (const part of [null, { ...solana, minting: null }])
      expect(witnessOf(part)).toMatchObject({ key: undefined, where: 'Not known at the moment' });
  });
});

it.each([
  ['Contact: mailto:ops@sluice.test\nExpires: 2027', null, 'mailto:ops@sluice.test'],
  ['# Operator: Sluice Ltd\ncontact: https://sluice.test/report', 'Sluice Ltd', 'https://sluice.test/report'],
  ['Contact: javascript:alert(1)', null, null],
  ['', null, null],
])('reads the operator from %j as %s with the contact %s', (text, name, contact) => {
  expect(operatorOf(text)).toEqual({ name, contact });
});

it('values the Bitcoin reserve by its own sats, not by the ABSR supply', () => {
  expect(worthText('1049500', 80_000)).toBe('$839.60');
  expect(worthText('1049500', null)).toBe('price unknown');
  expect(worthText(null, 80_000)).toBe('price unknown');
});

it('says that there is no swap only if the history was read and is empty', () => {
  expect(String(SwapGate({ swaps: null }))).not.toContain('none yet');
  expect(String(SwapGate({ swaps: { ...exampleOf('listSwaps'), transactions: [] } }))).toContain('none yet');
});

type Checked = Parameters<typeof verdictOf>[1];
const found = (results: Partial<Record<string, CheckLine['result']>>): Checked => ({
  ...{ type: 'done', at: '2026-11-20T12:00:00.000Z', proof: null, sources: null },
  lines: (['bitcoin_signature', 'reserve', 'supply', 'freshness'] as const).map((name) => ({
    name,
    result: results[name] ?? 'confirmed',
    text: '7 sats for 5 ABSR.',
  })),
});
/** The summary with this coverage. */
const summaryOf = (over: object) => {
  const example = exampleOf('getAbsrSummary');
  return { value: { ...example, coverage: { ...example.coverage, ...over } }, failure: null };
};

it('a passed check shortens its addresses and times, and a failed one shows each in full', () => {
  const address = 'bc1qsixty4characters0of0an0address0here';
  const time = '2026-11-20T11:00:00.123Z';
  const shown = (result: CheckLine['result']): string => {
    const lines: CheckLine[] = [{ name: 'bitcoin_signature', result, text: `${address} signed at ${time}` }];
    return String(
      CheckList({
        state: { type: 'done', at: '2026-11-20T12:00:00.000Z', proof: null, sources: null, lines },
      }),
    );
  };
  expect(shown('confirmed')).toContain(': bc1qsi…s0here signed at 2026-11-20 11:00 UTC');
  expect(shown('contradicted')).toContain(`${address} signed at ${time}`);
});

describe('the verdict of the overview', () => {
  const IDLE = { type: 'idle' } as const;
  const shortAt = (time: string) =>
    summaryOf({ state: 'short', reserveSatoshis: '3', gapSatoshis: '2', as_of: `2026-11-20T${time}Z` });
  const READ: Readonly<Record<string, Parameters<typeof verdictOf>[0]>> = {
    unread: { value: null, failure: null },
    covered: summaryOf({ state: 'covered', reserveSatoshis: '7', supplySatoshis: '5' }),
    unknown: summaryOf({ state: 'unknown' }),
    'short six hours later': shortAt('18:00:00.000'),
    'short ten seconds before': shortAt('11:59:50.000'),
  };
  eachScene(`
    unread                   | idle                 | warn | not known                |
    covered                  | idle                 | good | ^Covered:                | by this service
    covered                  | all confirmed        | good | ^Covered: 7 sats for 5   | in your browser
    covered                  | reserve contradicted | bad  | BTC is NOT               | in your browser
    short six hours later    | all confirmed        | bad  | ^Not covered:            | by this service
    short ten seconds before | reserve unchecked    | bad  | ^Not covered:            | by this service
    short ten seconds before | reserve contradicted | bad  | ^Not covered: 3 sats .*BTC is NOT | by this service, and in your browser
    short ten seconds before | reserve disputed     | bad  | ^Not covered: 3 sats .*7 sats for 5 ABSR | by this service, and in your browser
    covered                  | reserve disputed     | warn | ^7 sats for 5 ABSR       | in your browser
    covered                  | reserve unchecked    | good | ^Covered:                | by this service
    covered                  | supply warned        | good | ^Covered:                | by this service
    unknown                  | idle                 | warn | not known                |
    covered                  | supply unchecked     | good | ^Covered:                | by this service
  `)(
    'with %s figures and the check %s, the verdict is %s, says %s, and names who compared: %s',
    (...scene) => {
      const [figures = '', checked = '', kind, title = '', who = ''] = scene;
      const [name = '', result] = checked.split(' ');
      const check = checked === 'idle' ? IDLE : found({ [name]: result as CheckLine['result'] });
      const verdict = verdictOf(READ[figures] ?? summaryOf({}), check);
      expect([verdict.kind, verdict.by?.who ?? '']).toEqual([kind, who]);
      expect(verdict.title).toMatch(new RegExp(title));
    },
  );

  it('one sentence has the time of a check in the browser and that of the figures on the page', () => {
    const verdict = verdictOf(READ.covered ?? summaryOf({}), found({}));
    const line = VerdictLine({ verdict, asked: true, shownAt: '2026-11-20T11:59:00.000Z' });
    expect(String(line).replace(/<[^>]*>/g, '')).toContain(
      'Checked 2026-11-20 12:00 UTC in your browser; this page shows figures read 2026-11-20 11:59 UTC.',
    );
  });

  it('the verdict is empty while the figures load, and unknown if the service did not respond', () => {
    const verdict = verdictOf({ value: null, failure: null }, IDLE);
    expect(String(VerdictLine({ verdict, asked: true }))).toContain('not known at the moment');
    expect(String(VerdictLine({ verdict, asked: false }))).not.toContain('known');
  });
});

it.each([
  ['0.0000125', '80,000', '0.0000125'],
  ['2000', '2,000', '0.0005'],
  ['1', '1', '1'],
])('shows a pool price of %s and its inverse, with the larger number first', (price, first, second) => {
  const pool = { ...exampleOf('getPool') };
  pool.data = { ...pool.data, price };
  const html = String(PoolCard({ pool, headers: null }));
  const shown = [...html.matchAll(/<p class="(?:tile-value|fine) number">([\d.,]+) /g)].map(
    ([, text]) => text,
  );
  expect(shown).toEqual([first, second]);
});

it.each([
  ['fresh', 'false', null, []],
  ['stale', 'true', null, ['A source is down', 'last good value']],
  [
    'not refreshed',
    'false',
    failureOf({ kind: 'unreadable', status: 502 }),
    ['The service does not respond'],
  ],
])('if the figures of the pools are %s, one line above all pools says so', (_, stale, failure, words) => {
  const headers = new Headers({ 'x-data-as-of': '2026-11-20T17:44:00Z', 'x-data-stale': stale });
  const query = { value: exampleOf('getPool'), headers, failure, refresh: () => undefined };
  const html = String(PoolRows({ reads: ['A', 'B', 'C'].map((title) => ({ title, query })) }));
  for (const word of ['A source is down', 'last good value', 'The service does not respond'])
    expect([word, html.split(word).length - 1]).toEqual([word, words.includes(word) ? 1 : 0]);
  expect(html.split('class="pool"')).toHaveLength(4);
});

it.each([
  [4, false],
  [5, true],
])('%i page views in 30 days are drawn as a chart: %s', (pageviews, isDrawn) => {
  const example = exampleOf('getAnalyticsStats');
  const series = [{ day: '2026-11-20', pageviews, visitors: 1 }];
  const html = String(VisitorReport({ stats: { ...example, series } }));
  expect(html.includes('<svg')).toBe(isDrawn);
  expect(html.includes(`${pageviews} page views in 30 days: too few`)).toBe(!isDrawn);
});

it('a post that its author repeated is shown once, and so is the same post by another author', () => {
  const [post] = exampleOf('getNostrFeed').posts;
  const posts = ['a1 x', 'b2 x', 'a3 x', 'a4 y'].map((text) => ({
    ...{ ...post, id: text, pubkey: text[0], content: text[3] },
  }));
  expect(withoutRepeats(posts).map(({ id }) => id)).toEqual(['a1 x', 'b2 x', 'a4 y']);
});
