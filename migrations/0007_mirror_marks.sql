-- The row that the custodian writes to find out whether the database accepts writes.
CREATE TABLE IF NOT EXISTS mirror_marks (
  name TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  filler BLOB
) WITHOUT ROWID;
