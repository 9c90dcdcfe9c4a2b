import { bytesToHex } from '@noble/hashes/utils.js';
import { AppError } from '../../core/errors.ts';
import type { AnalyticsStore } from './analytics-store.ts';
import { pathOf, referrerOf } from './page.ts';
import { isCrawler, visitorKey } from './visitor.ts';

export type CountPageviewDeps = {
  analytics: Pick<AnalyticsStore, 'salt' | 'add' | 'addBot'>;
  /** Hosts of the site itself; they are not counted as referrers. */
  siteHost: string | undefined;
  /** Zero stores no addresses at all. */
  ipRetentionDays: number;
  now: () => number;
};

export type Pageview = {
  readonly path: string;
  readonly referrer: string;
  readonly ip: string | null;
  readonly userAgent: string;
};

const freshSalt = () => bytesToHex(crypto.getRandomValues(new Uint8Array(32)));

/** Logs and counts one view. @throws AppError ANALYTICS_WRITE_FAILED */
export async function countPageview(d: CountPageviewDeps, view: Pageview): Promise<void> {
  const at = d.now();
  const referrer = referrerOf(view.referrer);
  try {
    if (isCrawler(view.userAgent)) return await d.analytics.addBot(at);
    const salt = await d.analytics.salt(at, freshSalt);
    await d.analytics.add({
      at,
      path: pathOf(view.path),
      referrer: referrer?.url ?? '',
      referrerHost: referrer && referrer.host !== d.siteHost ? referrer.host : undefined,
      ip: d.ipRetentionDays > 0 ? view.ip : null,
      visitor: visitorKey(salt, view.ip, view.userAgent),
    });
  } catch (cause) {
    throw new AppError('ANALYTICS_WRITE_FAILED', 'The page view could not be logged.', { cause });
  }
}
