-- The mark of the newest batch of the custodian's outbox, and the row of its write probe.
CREATE TABLE IF NOT EXISTS mirror_marks (
  name TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  filler BLOB
) WITHOUT ROWID;
