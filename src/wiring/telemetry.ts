/**
 * Destinations of log lines: the console and, as data points, the optional Analytics Engine binding
 * `METRICS`.
 * @module
 */
import { type Config, type OptionalBindings, readConfig } from '../config.ts';
import { stringifyJson } from '../core/json.ts';
import { pointsOf } from '../core/metrics.ts';
import type { Fetch } from '../providers/http.ts';

export type Line = Readonly<Record<string, unknown>>;

export type Telemetry = {
  readonly log: (line: Line) => void;
  /** Counts an upstream call. It is not logged, because each request makes several. */
  readonly observe?: Fetch['observe'];
};

/** A configuration and its clients' log. Without telemetry they log to the console only. */
export type Wired = Config & { readonly telemetry?: Telemetry };

export const log = (line: Line): void => console.log(stringifyJson(line));

function telemetry({ METRICS }: Env & OptionalBindings): Telemetry {
  if (METRICS === undefined) return { log };
  function write(line: Line): void {
    try {
      for (const point of pointsOf(line)) METRICS?.writeDataPoint(point);
    } catch (error) {
      // Only the metrics are lost: no request and no operation may fail because of them.
      log({ level: 'warn', event: 'metrics_failed', reason: String(error).slice(0, 200) });
    }
  }
  return {
    log(line) {
      log(line);
      write(line);
    },
    observe: (call) => write({ event: 'upstream_called', ...call }),
  };
}

/** The configuration of an environment with its telemetry. */
export const wired = (env: Env): Wired & { readonly telemetry: Telemetry } => ({
  ...readConfig(env),
  telemetry: telemetry(env),
});
