/**
 * The module that the world's Worker starts with: the deployed bundle behind a clock that cron events move.
 * @module
 */

import service, { Custodian as DeployedCustodian } from './worker.js';
import { moveAlarms, moveClock } from './worker-clock.js';

export class Custodian extends DeployedCustodian {
  constructor(state, env) {
    moveAlarms(state.storage);
    super(state, env);
  }
}

export default {
  ...service,
  scheduled(event, env, context) {
    moveClock(event.scheduledTime);
    return service.scheduled(event, env, context);
  },
};
