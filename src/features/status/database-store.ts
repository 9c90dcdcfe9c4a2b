/** Whether D1 answers. @throws when it does not */
export const createDatabaseStore = (db: D1Database) => ({
  async ping(): Promise<void> {
    await db.prepare('SELECT 1').first();
  },
});
