/**
 * Sends every row to D1 again on the operator's command, after D1 was restored to an older state.
 * @module
 */

import { REFUSED_ROW } from '../kernel/mirror-queue.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from '../kernel/module.ts';
import { compareMark, REPUBLISHED_TO, RESTORED } from '../kernel/outbox.ts';
import type { Mirror } from '../kernel/ports.ts';
import type { OpsAnswer } from '../operator-api.ts';
import { placeAfterPage, type TablePlace } from './table-place.ts';

const PAGE = 100;
/** Maximum rows that one command sends, so that it responds in time. */
const MOST = 2_000;
const LIST = 50;

export type RepublishPorts = {
  readonly mirror: Pick<Mirror, 'mark'>;
  /** The tables of every module. Some modules are created after this one. */
  sources(): readonly MirrorSource[];
  flush(): Promise<void>;
};

export class Republishing implements CustodyModule {
  readonly commands = { republish: () => this.#republish() };
  readonly #tools: ModuleTools;
  readonly #ports: RepublishPorts;

  constructor(tools: ModuleTools, ports: RepublishPorts) {
    this.#tools = tools;
    this.#ports = ports;
  }

  async onCron(): Promise<void> {
    const { journal, storage, log } = this.#tools;
    const acknowledged = journal.queue.acknowledged();
    const found = await this.#ports.mirror.mark();
    storage.transaction(() => compareMark(journal, log, acknowledged, found));
  }

  /** The position is stored with each page, so a repeated command continues where the last command stopped. */
  async #republish(): Promise<OpsAnswer> {
    const { agenda, journal, storage, now } = this.#tools;
    const refused = journal.queue.setAside(LIST);
    for (const key of agenda.ids(REFUSED_ROW)) agenda.plan(REFUSED_ROW, key, now());
    for (let queued = 0; queued < MOST; ) {
      const page = storage.transaction(() => this.#queuePage());
      await this.#ports.flush();
      if (page === 'end') return { ok: true, message: 'Every row was sent to D1 again.', rows: refused };
      if (journal.queue.isQueued())
        return { ok: false, message: `D1 did not accept every row. ${CONTINUE}`, rows: refused };
      queued += page;
    }
    return {
      ok: true,
      message: `${MOST} rows were sent to D1 again, and more are left. ${CONTINUE}`,
      rows: refused,
    };
  }

  /** Queues the next rows. @returns their number, or `end` if none is left */
  #queuePage(): number | 'end' {
    const { journal, now } = this.#tools;
    const tables = this.#ports.sources();
    const place = JSON.parse(journal.getMeta(REPUBLISHED_TO) || 'null') as TablePlace | null;
    const { table, after } = place ?? { table: tables[0]?.table ?? 'operation', after: '' };
    const rows = tables.find((source) => source.table === table)?.rowsAfter(after, PAGE) ?? [];
    for (const { id, columns, revision } of rows) journal.queue.publish(table, id, columns, now(), revision);
    const next = placeAfterPage(tables, { table, after }, rows);
    journal.setMeta(REPUBLISHED_TO, next ? JSON.stringify(next) : '');
    if (next) return rows.length;
    journal.setMeta(RESTORED, '');
    return 'end';
  }
}

const CONTINUE = 'Type `ops republish` again to continue.';
