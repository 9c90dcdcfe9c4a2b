/**
 * Rows as another version of the service left them.
 * @module
 */
import type { Disk } from './disk.ts';
import type { Random } from './random.ts';

/** Members that an older version may not have written, with the value that their absence stands for. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  reason: null,
  looks: 0,
  cost: '0',
  reserved: '0',
  unsettled: '0',
  releasedSlot: null,
  landing: null,
  attempt: 1,
};

/** Takes out what an older version did not write, and adds what only a newer one knows. */
export function ageRows(disk: Disk, random: Random): void {
  for (const { seq, row } of disk.exec('SELECT seq, row FROM operations', [])) {
    const stored = JSON.parse(String(row)) as Record<string, unknown>;
    for (const [member, neutral] of Object.entries(NEUTRAL)) {
      if (stored[member] === neutral && random.chance(0.7)) delete stored[member];
    }
    if (random.chance(0.3)) stored.unknownMember = 'kept';
    disk.exec('UPDATE operations SET row = ? WHERE seq = ?', [JSON.stringify(stored), Number(seq)]);
  }
}
