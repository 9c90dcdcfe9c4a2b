import { checkSettingsApart } from './check-environments.ts';
import { checkFiles, checkRepository, type Files } from './check-files.ts';
import { checkLimits } from './check-limits.ts';
import { checkService } from './check-service.ts';
import { checkSettings } from './check-settings.ts';
import { checkIndependence } from './check-sources.ts';
import { checkUpstreams } from './check-upstreams.ts';
import { type Finding, isLocalService, type Settings } from './finding.ts';

/** All findings, the cheapest first. */
export async function examine({
  settings,
  production = {},
  files,
  service,
  offline,
}: {
  readonly settings: Settings;
  /** Settings of production, when `settings` belong to another environment. */
  readonly production?: Settings | undefined;
  readonly files: Files;
  /** Origin of the running service; undefined to skip its checks. */
  readonly service?: string | undefined;
  /** Makes no requests. */
  readonly offline?: boolean;
}): Promise<Finding[]> {
  const local = [
    ...checkFiles(files),
    ...(files.wrangler === undefined || isLocalService(settings) ? [] : checkRepository()),
    ...checkSettings(settings),
    ...checkSettingsApart(settings, production),
    ...checkLimits(settings),
    ...checkIndependence(settings),
  ];
  if (offline) return local;
  const [upstreams, running] = await Promise.all([
    checkUpstreams(settings),
    service === undefined ? [] : checkService(service, settings),
  ]);
  return [...local, ...upstreams, ...running];
}
