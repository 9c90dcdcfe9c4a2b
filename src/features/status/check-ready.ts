/** The conditions for moving money. Each check runs separately, so one response names every failure. */
export type ReadyDeps = {
  /** Names of missing or invalid variables. */
  readonly missingVariables: readonly string[];
  /** One statement that reads no row. @throws Error when D1 does not answer or a table is missing */
  pingDatabase(): Promise<void>;
  readonly custody: { report(): Promise<{ frozen: string | null; reserveAddress: string }> };
  readonly reserve: { readonly solanaAddress: string | null };
};

export type Check = { readonly name: string; readonly ok: boolean; readonly reason: string | null };

export async function checkReady(d: ReadyDeps): Promise<Check[]> {
  const [database, custody] = await Promise.all([
    outcome('database', async () => {
      await d.pingDatabase();
      return null;
    }),
    outcome('custody', async () => {
      const { frozen, reserveAddress } = await d.custody.report();
      if (frozen) return `signing is frozen: ${frozen}`;
      return reserveAddress === d.reserve.solanaAddress ? null : 'the key does not belong to the address';
    }),
  ]);
  const missing = d.missingVariables;
  const config = {
    name: 'config',
    ok: missing.length === 0,
    reason: missing.length > 0 ? `missing or invalid: ${missing.join(', ')}` : null,
  };
  return [config, database, custody];
}

/** @param check the reason for a failure, or null */
async function outcome(name: string, check: () => Promise<string | null>): Promise<Check> {
  try {
    const reason = await check();
    return { name, ok: reason === null, reason };
  } catch (error) {
    const table = /\bno such table: (\w+)/.exec(error instanceof Error ? error.message : '')?.[1];
    const reason =
      table === undefined ? 'does not answer' : `table ${table} is missing: apply the migrations`;
    return { name, ok: false, reason };
  }
}
