/**
 * Where the marks of a chart's axes stand. Pure.
 * @module
 */

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Seconds between two marks of time. */
const TIME_STEPS = [
  60,
  5 * 60,
  15 * 60,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  30 * DAY,
  91 * DAY,
  365 * DAY,
];

/** The smallest of 1, 2, 5, 10, 20 and so on that divides a range into at most `parts` parts. */
function roundStep(range: number, parts: number): number {
  const least = Math.max(range / parts, 1);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? 10 * power;
}

function multiples(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, at) => (first + at) * step);
}

/** Whole numbers: every figure of a chart is a whole number of sats, tokens, dollars or views. */
export const numberTicks = (from: number, to: number, parts: number): number[] =>
  multiples(from, to, roundStep(to - from, parts));

export type TimeTick = { readonly at: number; readonly label: string; readonly date: string | null };

/**
 * Unix seconds with labels in UTC, at the two ends if no more fit. Labels are hours with the date below the first of each
 * day, or dates alone.
 */
export function timeTicks(from: number, to: number, parts: number): TimeTick[] {
  const step = TIME_STEPS.find((seconds) => (to - from) / seconds <= parts) ?? roundStep(to - from, parts);
  const marks = multiples(from, to, step);
  let day = '';
  return (marks.length < 2 && to > from ? [from, to] : marks).map((at) => {
    const iso = new Date(at * 1000).toISOString();
    const date = iso.slice(5, 10);
    if (step >= DAY) return { at, label: date, date: null };
    const isNewDay = date !== day;
    day = date;
    return { at, label: iso.slice(11, 16), date: isNewDay ? date : null };
  });
}
