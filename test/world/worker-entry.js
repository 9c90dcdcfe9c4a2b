/**
 * The module that the world's Worker starts with: the deployed bundle behind a clock that cron events move.
 * @module
 */

import { DurableObject } from 'cloudflare:workers';
import * as deployed from './worker.js';
import { moveAlarms, moveClock } from './worker-clock.js';

const service = deployed.default;

export class Custodian extends deployed.Custodian {
  constructor(state, env) {
    moveAlarms(state.storage);
    super(state, env);
  }
}

/** An earlier release has no such object. */
const DeployedPageViews = deployed.PageViews ?? DurableObject;

export class PageViews extends DeployedPageViews {
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
  scheduled(event, env, context) {
    moveClock(event.scheduledTime);
    return service.scheduled(event, env, context);
  },
};
