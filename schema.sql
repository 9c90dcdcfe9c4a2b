-- What people look up. The custodian's journal is the truth about money; these rows mirror it for reading.
-- Amounts of u64 and more are TEXT. Times are ISO 8601 UTC unless the name says otherwise.

CREATE TABLE IF NOT EXISTS operations (
  id TEXT PRIMARY KEY,                 -- natural key, such as swap:<request key>
  seq INTEGER NOT NULL UNIQUE,         -- order of the journal
  revision INTEGER NOT NULL,           -- of the journal when this row was written; an older one never overwrites
  kind TEXT NOT NULL CHECK (kind IN ('swap', 'token', 'asry', 'absr', 'refund')),
  status TEXT NOT NULL CHECK (status IN ('waiting', 'finished', 'failed')),
  detail TEXT NOT NULL,
  reason TEXT,
  signature TEXT UNIQUE,               -- Solana signature once signed
  amount_lamports TEXT,
  expected_sats TEXT,
  btc_sats TEXT,
  btc_txid TEXT,
  landed_slot INTEGER,
  block_time INTEGER,                  -- Unix seconds of the landing block
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  journal TEXT NOT NULL                -- the whole row as JSON, from which a lost journal is rebuilt
);
CREATE INDEX IF NOT EXISTS operations_by_kind ON operations (kind, seq DESC);

-- Quotes that reads have asked of the routing provider, by two-hour window since 1970.
CREATE TABLE IF NOT EXISTS quote_budget (
  window INTEGER PRIMARY KEY,
  used INTEGER NOT NULL
);
