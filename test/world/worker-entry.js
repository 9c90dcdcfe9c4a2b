/**
 * The module that the world's Worker starts with: the deployed bundle on the platform's limits, behind a clock that cron
 * events move.
 * @module
 */

import { invoke } from './invocation.ts';
import { objectOnPlatform, onPlatform } from './platform.ts';
import * as deployed from './worker.js';
import { moveAlarms, moveClock } from './worker-clock.js';

const service = deployed.default;

export class Custodian extends objectOnPlatform(deployed.Custodian) {
  constructor(state, env) {
    moveAlarms(state.storage);
    super(state, env);
  }

  /** The object loses its memory, as after ten seconds without an event. */
  evict() {
    this.ctx.abort('evicted');
  }
}

export class PageViews extends deployed.PageViews {
  constructor(state, env) {
    moveAlarms(state.storage);
    super(state, env);
  }

  /** Rows for a test. */
  query(sql) {
    return this.ctx.storage.sql.exec(sql).toArray();
  }
}

export default {
  ...service,
  fetch(request, env, context) {
    return invoke(async () => service.fetch(request, onPlatform(env), context), request.signal);
  },
  scheduled(event, env, context) {
    moveClock(event.scheduledTime);
    return invoke(() => service.scheduled(event, onPlatform(env), context));
  },
};
