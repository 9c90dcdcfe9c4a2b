/**
 * The clock of a Worker in the world, which `POST /cron` moves. It replaces `Date` and the alarms of Durable Objects
 * before the service's own module runs. The deployed bundle does not contain it.
 * @module
 */
const RealDate = Date;
let offsetMs = 0;

const now = () => RealDate.now() + offsetMs;

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [now()] : parts));
  }
  static now = now;
};

/** Below this the clocks count as equal: a call may arrive late. */
const TOLERANCE_MS = 30_000;

/** @param time what the clock shows from now on, Unix milliseconds */
export function moveClock(time) {
  if (Math.abs(time - now()) > TOLERANCE_MS) offsetMs = time - RealDate.now();
}

const patched = new WeakSet();

/** Lets alarms fire by the moved clock: the runtime keeps the real one. */
export function moveAlarms(storage) {
  const prototype = Object.getPrototypeOf(storage);
  if (patched.has(prototype)) return;
  patched.add(prototype);
  const { setAlarm, getAlarm } = prototype;
  prototype.setAlarm = function (time, options) {
    return setAlarm.call(this, Number(time) - offsetMs, options);
  };
  prototype.getAlarm = async function (options) {
    const time = await getAlarm.call(this, options);
    return time === null ? null : time + offsetMs;
  };
}
