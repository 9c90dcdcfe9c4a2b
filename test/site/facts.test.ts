import { expect, it } from 'vitest';
import { failureOf } from '../../site/api/call.ts';
import { withAnswers } from '../../site/api/query.ts';
import { ShortfallBar } from '../../site/parts/alerts.tsx';
import { AsrySupply } from '../../site/parts/asry-supply.tsx';
import { captionOf } from '../../site/parts/reserve-history.tsx';
import { limitText, StatusReport } from '../../site/parts/status-live.tsx';
import { wordsOf } from '../../site/parts/trust-claims.tsx';
import { exampleOf } from '../kit/example.ts';
import { scenes } from '../kit/scenes.ts';

const AT = '2026-11-20T10:00:00.000Z';

it.each(
  scenes(`
  short   | yes | no  | Compared.*See both
  short   | no  | no  | Compared.*, and not again since
  short   | yes | yes | Compared.*, and not again since
  covered | yes | no  | none
  unknown | yes | yes | none`),
)(
  'with a coverage that is %s, a service that responds: %s, and a stale source: %s, the bar of the shortage says: %s',
  (state, responds, stale, text = '') => {
    const coverage = { state, gapSatoshis: '-7', as_of: AT, stale: stale === 'yes' };
    const value = { ...exampleOf('getAbsrSummary'), coverage };
    const failure = responds === 'yes' ? null : failureOf({ kind: 'unreadable', status: 502 });
    const html = String(ShortfallBar({ value, failure }) ?? 'none');
    expect(html).toMatch(new RegExp(text, 's'));
    if (state === 'short') expect(html).toContain('exceeds the reserve by 7 sats');
  },
);

it.each(
  scenes(`
  1000 | 1000 | 0        | 1 | At the last signed proof: 0 sats of headroom.
  1000 | 1000 | 61975    | 1 | At the last signed proof: 0 sats of headroom; 61,975 sats more since, not signed yet.
  1500 | 1000 | 499      | 1 | At the last signed proof: 500 sats of headroom; 1 sat less since, not signed yet.
  1000 | 1000 | 61975    | -1 | At the last signed proof: 0 sats of headroom.
  1000 | 1000 | null     | 1 | At the last signed proof: 0 sats of headroom.
  1000 | null | 61975    | 1 |`),
)(
  'for a proof of %s sats and %s ABSR, and %s sats above the supply read %s hours later, the chart says: %s',
  (reserveSatoshis, supply, gap, hours, text) => {
    const [proof] = exampleOf('listProofs').proofs;
    const figures = {
      ...proof.figures,
      ...{ reserveSatoshis, absrSupplyAtoms: supply === 'null' ? null : supply, absrDecimals: 0 },
    };
    const as_of = new Date(Date.parse(AT) + Number(hours) * 3_600_000).toISOString();
    const coverage = { gapSatoshis: gap === 'null' ? null : (gap ?? null), as_of };
    expect(captionOf({ ...proof, timestamp: AT, figures }, coverage)).toBe(text);
  },
);

it.each(
  scenes(`
  lamports | 0     | 0          | 2000000000  | at most 2 SOL each time
  lamports | 3600  | 500000000  | 4000000000  | 0.5 of 4 SOL in the last hour, 3.5 SOL left
  lamports | 86400 | 500000000  | 10000000000 | 0.5 of 10 SOL in the last 24 hours, 9.5 SOL left
  lamports | null  | 1000000000 | 4000000000  | 1 of 4 SOL under way, 3 SOL left
  count    | 86400 | 3          | 2000        | 3 of 2,000 in the last 24 hours, 1,997 left`),
)(
  'a limit in %s over %s seconds, with %s of %s used, is shown as: %s',
  (unit, window, used = '', maximum = '', text) => {
    const left = String(BigInt(maximum) - BigInt(used));
    const windowSeconds = window === 'null' ? null : Number(window);
    const limit = { ...exampleOf('getStatus').custody.limits[0], unit, used, maximum, left, windowSeconds };
    expect(limitText(limit)).toBe(text);
  },
);

it.each(
  scenes(`
  minted    | null             | 0     | minted    |
  minted    | null             | 61975 | minted    | 61,975 sats wait for the next mint.
  none      | nothing_to_mint  | 0     | done      | There were no new sats at that time.
  none      | nothing_to_mint  | 61975 | done      | There were no new sats at that time. 61,975 sats wait for the next mint.
  scheduled | null             | 61975 | scheduled | 61,975 sats wait for the next mint.
  failed    | not_mint_authority | 9   | failed    | not mint authority.`),
)(
  "with today's mint %s for the reason %s and %s sats above the supply, the status shows: %s %s",
  (state, reason, gapSatoshis, value, note = '') => {
    const status = exampleOf('getStatus');
    const mint = { ...{ state, ok: state !== 'failed' }, reason: reason === 'null' ? null : reason };
    const report = StatusReport({
      bitcoin: null,
      status: {
        ...status,
        custody: { ...status.custody, mint },
        backing: { ...status.backing, gapSatoshis },
      } as never,
    });
    const [, shown, said = ''] =
      /Today&#39;s mint<\/span><span class="value">([^<]*)<\/span><span class="note">([^<]*)</.exec(
        String(report),
      ) ?? [];
    expect([shown, said.trim()]).toEqual([value, note]);
  },
);

it.each([
  ['two keys', 2, true, true],
  ['one key', 1, false, false],
] as const)(
  'with %s for a mint, the trust page says what only the operator states and the chain does not show',
  (_, required, watchOnly, isWitness) => {
    const reserves = exampleOf('getReserves');
    const own = reserves.solana.address;
    const minting =
      required === 2
        ? { authority: 'pair', required, signers: [own, 'witness'] }
        : { authority: own, required, signers: [own] };
    const words = wordsOf({
      ...reserves,
      bitcoin: { ...reserves.bitcoin, watchOnly },
      solana: { ...reserves.solana, minting },
    }).join(' ');
    expect(words.includes('witness')).toBe(isWitness);
    expect(words.includes('offline')).toBe(watchOnly);
  },
);

it.each(
  scenes(`
  other   | 2500000000 | no key of the service mints | Any amount. The service does not use this key
  other   | 2500000000 | the cap binds no mint       | Nothing does.
  other   | 2500000000 | a cold account pays         | Solana key move at most 2.5 ASRY
  reserve | null       | no cold account is known    | all ASRY that this key can move
  nobody  | null       | the mint is fixed           | The chain: the mint no longer has an authority
  unread  | null       | the mint is not read        | Not known at the moment`),
)(
  'with a mint of ASRY by %s and an allowance of %s, the page says that %s: %s',
  (minter, allowance, _, text) => {
    const summary = exampleOf('getAbsrSummary');
    const epochs = exampleOf('getAsryEpoch');
    const token = {
      ...exampleOf('getToken'),
      official: { asset: 'ASRY', minter: minter === 'unread' ? null : minter },
    };
    const answers = {
      'getAbsrSummary {}': { ...summary, asryMint: 'asry' },
      'getAsryEpoch {}': { ...epochs, allowanceAtomic: allowance === 'null' ? null : allowance },
      'getToken {"id":"asry"}': token,
    };
    expect(withAnswers(answers, () => String(AsrySupply()))).toContain(text);
  },
);
