import { expect, it } from 'vitest';
import { failureOf } from '../../site/api/call.ts';
import { withAnswers } from '../../site/api/query.ts';
import { Unavailable } from '../../site/parts/notice.tsx';
import { CoveredSince, coveredAmong } from '../../site/parts/reserve-history.tsx';
import { TrustClaims } from '../../site/parts/trust-claims.tsx';
import { CoverVerdict } from '../../site/parts/verdict.tsx';
import { exampleOf } from '../kit/example.ts';
import { scenes } from '../kit/scenes.ts';

const [READ, SIGNED] = ['2026-11-20T12:00:00.000Z', '2026-11-20T11:00:00.000Z'];

/** The figures of a reserve whose keys signed 1,000 sats. */
function answersOf(held: string, stale: boolean) {
  const [reserves, proof] = [exampleOf('getReserves'), exampleOf('getProof')];
  const summary = exampleOf('getAbsrSummary');
  const read = { stale, as_of: READ };
  const bitcoin = { ...reserves.bitcoin, ...read, balanceSatoshis: held, agreed: true };
  return {
    'getReserves {}': {
      ...{ ...reserves, ...read, bitcoin },
      solana: { ...reserves.solana, ...read, sources: ['a', 'b'] },
    },
    'getAbsrSummary {}': { ...summary, coverage: { ...summary.coverage, ...read } },
    'getProof {}': {
      ...{ ...proof, timestamp: SIGNED },
      figures: { ...proof.figures, reserveSatoshis: '1000' },
    },
  };
}

/** The class of the line of a list that has this text. */
const kindOf = (html: string, text: RegExp): string | undefined =>
  [...html.matchAll(/<li class="([a-z]+)">(.*?)<\/li>/gs)].find(([, , line = '']) => text.test(line))?.[1];

it.each(
  scenes(`
  1000 | now   | good | good | good
  1000 | later | open | good | open
  1061 | now   | good | good | good
  900  | now   | good | open | good
  900  | later | open | open | open`),
)(
  'with %s sats read %s and 1,000 signed, the lines about sources, signatures and the held sats are marked %s, %s and %s',
  (held = '', when, sources, signatures, claim) => {
    const answers = answersOf(held, when === 'later');
    const verdict = withAnswers(answers, () => String(CoverVerdict({})));
    expect([kindOf(verdict, /sources agree/), kindOf(verdict, /Bitcoin key and/)]).toEqual([
      sources,
      signatures,
    ]);
    expect(/agree.*and not again since/.test(verdict)).toBe(when === 'later');
    const claims = withAnswers(answers, () => String(TrustClaims()));
    for (const text of [/The reserve holds/, /ABSR exist/, /mint of ABSR|mint more ABSR/])
      expect([text, kindOf(claims, text)]).toEqual([text, claim]);
    expect(/The reserve holds.*2026-11-20 12:00 UTC.*and not again since/.test(claims)).toBe(
      when === 'later',
    );
  },
);

it('a fact that the first figures do not have is named for a reader without scripts', () => {
  const html = withAnswers(answersOf('1000', false), () => String(CoverVerdict({})));
  expect(html).toContain('<noscript>Where the sats came from: not shown without JavaScript.</noscript>');
});

/** A proof of each day, which signed this many sats for 1,000 ABSR; null for no ABSR yet. */
const proofsOf = (sats: readonly (string | null)[]) => {
  const [proof] = exampleOf('listProofs').proofs;
  return sats.map((reserveSatoshis, day) => ({
    ...proof,
    ...{ hash: `hash ${day}`, timestamp: `2026-11-0${day + 1}T12:00:00.000Z` },
    figures: {
      ...proof.figures,
      ...{ reserveSatoshis: reserveSatoshis ?? '0', absrDecimals: 0 },
      absrSupplyAtoms: reserveSatoshis === null ? null : '1000',
    },
  }));
};

it.each([
  [['1000', '1001'], 'covered', 'good', 'Covered in all 2 proofs that this page has read, since 2026-11-01.'],
  [['1000', '1001'], 'short', 'open', 'Covered in all 2 proofs that this page has read, since 2026-11-01.'],
  [[null, '1000'], 'covered', 'good', 'Covered in the only proof that this page has read, since 2026-11-02.'],
  [
    ['1000', '999', '1000'],
    'short',
    'warn',
    'Covered in 2 of 3 proofs that this page has read, since 2026-11-01.',
  ],
  [[null], 'covered', 'open', 'No proof of an ABSR supply is signed yet.'],
] as const)(
  'with proofs of %j sats for 1,000 ABSR, and a reserve that is now %s, the line about the past is marked %s and says: %s',
  (sats, state, kind, text) => {
    const summary = exampleOf('getAbsrSummary');
    const proofs = proofsOf(sats);
    const answers = {
      'getAbsrSummary {}': { ...summary, coverage: { ...summary.coverage, state } },
      'listProofs {"limit":25}': { proofs },
      'listProofs {"every":"day","limit":31}': { proofs: proofs.slice(0, 1) },
    };
    const html = withAnswers(answers, () => String(CoveredSince()));
    expect(html).toBe(`<li class="${kind}">${text}</li>`);
  },
);

it('a proof that two lists have is counted once', () => {
  const [first, second] = [proofsOf(['1000']), proofsOf(['1000', '1000'])];
  expect(coveredAmong([...first, ...second])?.all).toBe(2);
});

it('a failed source is no name of the code, and nothing is said about losses', () => {
  const failure = failureOf({
    ...{ kind: 'refused', status: 503, error_code: 'UPSTREAM_FAILED', retryable: true, request_id: 'r-1' },
    ...{ error: 'The upstream service solana-sale-1 failed.', action: 'retry_later' },
    details: { upstream: 'solana-sale-1' },
  });
  expect(failure).toMatchObject({
    ...{ text: 'A source of this service failed.', isOutage: true },
    next: 'It is temporary: try again in a moment.',
  });
  const html = String(Unavailable({ failure }));
  expect(html).toContain('A source of this service failed. <a href="/status">Which one</a>');
});
