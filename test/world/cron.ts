/** Whether a field of a cron expression (`*`, `5`, `1,2`, `0-5`, any of them with `/step`) names the value. */
function fieldMatches(field: string, value: number): boolean {
  return field.split(',').some((part) => {
    const [range = '*', step] = part.split('/');
    const [from, to] = range === '*' ? [0, 59] : range.split('-').map(Number);
    if (from === undefined || Number.isNaN(from)) return false;
    const last = to ?? (step === undefined ? from : 59);
    return value >= from && value <= last && (value - from) % Number(step ?? 1) === 0;
  });
}

/** Whether a five-field cron expression fires in the minute of this time, in UTC. */
export function cronMatches(cron: string, time: Date): boolean {
  const values = [
    time.getUTCMinutes(),
    time.getUTCHours(),
    time.getUTCDate(),
    time.getUTCMonth() + 1,
    time.getUTCDay(),
  ];
  const fields = cron.split(/\s+/);
  return fields.length === 5 && values.every((value, index) => fieldMatches(fields[index] ?? '', value));
}

const MINUTE_MS = 60_000;

/** Calls `fire` at the start of each minute for every due expression; returns a function that stops it. */
export function startCron(
  crons: () => readonly string[],
  fire: (cron: string, time: number) => void,
): () => void {
  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    const next = (Math.floor(Date.now() / MINUTE_MS) + 1) * MINUTE_MS;
    timer = setTimeout(() => {
      for (const cron of crons()) if (cronMatches(cron, new Date(next))) fire(cron, next);
      schedule();
    }, next - Date.now());
  };
  schedule();
  return () => clearTimeout(timer);
}
