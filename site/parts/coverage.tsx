import type { AbsrSummary, Reserves } from '../../packages/client/src/index.ts';
import type { Query } from '../api/query.ts';
import { amountOf, grouped, sats } from './format.ts';
import { Age } from './freshness.tsx';

const WIDTH = 1000;

/** Share of the bar, in whole thousandths; ABSR has as many atoms as sats if it has no decimals. */
const share = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : Number((part * BigInt(WIDTH)) / whole);

export type Covered = { readonly reserve: bigint; readonly supply: bigint };

/** The service's comparison; null unless it is known now. */
export function coverageOf({
  value,
  failure,
}: Pick<Query<AbsrSummary>, 'value' | 'failure'>): Covered | null {
  if (value === null || failure !== null) return null;
  const { state, reserveSatoshis, supplySatoshis } = value.coverage;
  if (state === 'unknown' || reserveSatoshis === null || supplySatoshis === null) return null;
  return { reserve: BigInt(reserveSatoshis), supply: BigInt(supplySatoshis) };
}

export function coverageText({ reserve, supply }: Covered): string {
  const gap = reserve - supply;
  if (supply === 0n) return 'No ABSR exists yet, so nothing is owed.';
  if (gap < 0n) return `Not covered: ${amountOf(-gap, 'sat')} ${gap === -1n ? 'is' : 'are'} missing.`;
  return gap === 0n
    ? 'Every ABSR is covered by exactly one sat.'
    : `Every ABSR is covered, with ${amountOf(gap, 'sat')} to spare.`;
}

/** The same as one mark. */
export function CoverageMark({ covered }: { covered: Covered | null }) {
  if (covered === null) return <span class="mark warn">not known right now</span>;
  const isShort = covered.supply > covered.reserve;
  return <span class={`mark ${isShort ? 'bad' : 'good'}`}>{coverageText(covered)}</span>;
}

function sourcesText(bitcoin: Reserves['bitcoin'] | undefined): string {
  if (bitcoin === undefined) return '';
  const names = bitcoin.sources.filter(({ balanceSatoshis }) => balanceSatoshis !== null);
  if (bitcoin.agreed === true) return `${names.length} independent Bitcoin sources agree`;
  return bitcoin.agreed === false
    ? 'the Bitcoin sources differ; the lower value counts'
    : 'only one source responds';
}

/** Reserve over supply in percent, rounded down; a dash while no ABSR exists. */
export function coverageRatio({ reserve, supply }: Covered): string {
  if (supply === 0n) return '–';
  const hundredths = (reserve * 10_000n) / supply;
  return `${grouped((hundredths / 100n).toString())}.${(hundredths % 100n).toString().padStart(2, '0')} %`;
}

/** @param asked whether the service has answered: the figures are then unknown, otherwise still loading */
export const CoverageUnknown = ({ asked }: { asked: boolean }) => (
  <div class="coverage awaited">
    <p class="coverage-text" data-figure="coverage">
      <strong>{asked ? 'Whether every ABSR is covered is not known right now.' : ' '}</strong>
    </p>
    <div class="coverage-bar" />
  </div>
);

/** Reserve and supply as one bar, with the excess labelled. */
export function CoverageBar({
  covered,
  bitcoin,
  proofAt,
}: {
  covered: Covered;
  bitcoin: Reserves['bitcoin'] | undefined;
  proofAt: string | null;
}) {
  const { reserve, supply } = covered;
  const most = reserve > supply ? reserve : supply;
  const reserveEnd = share(reserve, most);
  const supplyEnd = share(supply, most);
  const short = supply > reserve;
  return (
    <div class="coverage">
      <p class={`coverage-text${short ? ' short' : ''}`}>
        <strong>{coverageText(covered)}</strong>
      </p>
      <svg viewBox={`0 0 ${WIDTH} 44`} preserveAspectRatio="none" aria-hidden="true" class="coverage-bar">
        <defs>
          <pattern
            id="spare"
            width="10"
            height="10"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect class="spare-ground" width="10" height="10" />
            <rect class="spare-line" width="4" height="10" />
          </pattern>
        </defs>
        <rect class="reserve" x="0" y="0" width={reserveEnd} height="44" fill="url(#spare)" />
        <rect class="supply" x="0" y="0" width={Math.min(supplyEnd, reserveEnd)} height="44" />
        {short ? (
          <rect class="missing" x={reserveEnd} y="0" width={supplyEnd - reserveEnd} height="44" />
        ) : null}
      </svg>
      <dl class="coverage-key">
        <div>
          <dt>
            <span class="dot btc" aria-hidden="true" /> Reserve
          </dt>
          <dd>{amountOf(reserve, 'sat')}</dd>
        </div>
        <div>
          <dt>
            <span class="dot absr" aria-hidden="true" /> ABSR supply
          </dt>
          <dd>{sats(supply.toString())} ABSR</dd>
        </div>
        <div>
          <dt>
            <span class={`dot ${short ? 'short' : 'spare'}`} aria-hidden="true" />{' '}
            {short ? 'Missing' : 'Headroom'}
          </dt>
          <dd>{amountOf(short ? supply - reserve : reserve - supply, 'sat')}</dd>
        </div>
      </dl>
      <p class="fine">
        {[sourcesText(bitcoin)].filter(Boolean).join(' · ')}
        {proofAt === null ? null : (
          <>
            {' · '}newest proof signed <Age iso={proofAt} />
          </>
        )}
      </p>
    </div>
  );
}
