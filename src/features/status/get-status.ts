import { formatAmount, SOL_DECIMALS } from '../../core/amount.ts';
import type { CapUse, CustodianApi, CustodyReport } from '../../custody/api.ts';
import type { Cache } from '../../http/cached.ts';

/** One upstream as a probe found it. */
export type UpstreamState = { readonly name: string; readonly ok: boolean; readonly ms: number };

export type StatusReportDeps = {
  readonly cache: Cache;
  readonly custody: Pick<CustodianApi, 'report'>;
  /** Sats in the reserve beyond the ABSR supply, as decimal text; null where either is not known. */
  readBacking(): Promise<{ readonly gapSatoshis: string | null; readonly ratio: number | null }>;
  /** Asks every upstream one cheap question. */
  probeUpstreams(): Promise<UpstreamState[]>;
};

const UPSTREAM_POLICY = { freshMs: 30_000, revalidateMs: 60_000, staleMs: 300_000 };
const CUSTODY_POLICY = { freshMs: 5_000, revalidateMs: 10_000, staleMs: 60_000 };

const use = ({ usedLamports, maximumLamports }: CapUse) => ({
  usedSol: formatAmount(usedLamports, SOL_DECIMALS),
  maximumSol: formatAmount(maximumLamports, SOL_DECIMALS),
});

const custodyStatus = (report: CustodyReport) => ({
  frozen: report.frozen,
  paused: report.paused,
  openOperations: report.openOperations,
  heldOperations: report.heldOperations,
  mint: report.mint,
  mirrorBehindSince:
    report.undeliveredSinceMs === null ? null : new Date(report.undeliveredSinceMs).toISOString(),
  caps: {
    hour: use(report.caps.hour),
    day: use(report.caps.day),
    unsettled: use(report.caps.unsettled),
    cost_day: use(report.caps.costDay),
  },
});

/** How the whole service is; a part that cannot be read is null, and the status is then not ok. */
export async function getStatus(d: StatusReportDeps) {
  const [upstreams, custody, backing] = await Promise.all([
    d.cache.read('status:upstreams', UPSTREAM_POLICY, () => d.probeUpstreams()),
    d.cache
      .read('status:custody', CUSTODY_POLICY, async () => custodyStatus(await d.custody.report()))
      .catch(() => null),
    d.readBacking().catch(() => ({ gapSatoshis: null, ratio: null })),
  ]);
  const custodyOk =
    custody !== null &&
    !custody.value.frozen &&
    !custody.value.paused &&
    custody.value.heldOperations === 0 &&
    custody.value.mint?.ok !== false;
  const covered = backing.gapSatoshis === null || BigInt(backing.gapSatoshis) >= 0n;
  return {
    ok: custodyOk && covered && upstreams.value.every((upstream) => upstream.ok),
    upstreams: upstreams.value,
    custody: custody?.value ?? null,
    backing: { ok: covered, gapSatoshis: backing.gapSatoshis, ratio: backing.ratio },
    as_of: new Date(Math.min(upstreams.asOf, custody?.asOf ?? upstreams.asOf)).toISOString(),
    stale: upstreams.stale || (custody?.stale ?? true),
  };
}
