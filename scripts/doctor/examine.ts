import { checkSettingsApart } from './check-environments.ts';
import { checkFiles, checkRepository, type Files } from './check-files.ts';
import { checkLimits } from './check-limits.ts';
import { checkService } from './check-service.ts';
import { checkSettings } from './check-settings.ts';
import { checkIndependence } from './check-sources.ts';
import { checkUpstreams } from './check-upstreams.ts';
import { type Finding, isLocalService, problemIf, type Settings } from './finding.ts';

/** All findings, the cheapest first. */
export async function examine({
  settings,
  production = {},
  files,
  service,
  offline,
  isForDeployment = false,
}: {
  readonly settings: Settings;
  /** Settings of production, when `settings` belong to another environment. */
  readonly production?: Settings | undefined;
  readonly files: Files;
  /** Origin of the running service; undefined to skip its checks. */
  readonly service?: string | undefined;
  /** Makes no requests. */
  readonly offline?: boolean;
  /** True if the settings will be uploaded: they may then name no service on this machine. */
  readonly isForDeployment?: boolean;
}): Promise<Finding[]> {
  const local = [
    ...checkFiles(files),
    ...(files.wrangler === undefined || isLocalService(settings) ? [] : checkRepository()),
    ...problemIf(
      isForDeployment && isLocalService(settings),
      'base-url-local',
      'PUBLIC_BASE_URL names this machine: metadata and links of a deployed service would lead nowhere.',
      'Use the https origin of the deployment. For a service on this machine, pass --service.',
    ),
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
