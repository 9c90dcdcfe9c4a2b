-- The whole schema of the D1 database, for reading and for tests. A deployed database is made and upgraded by migrations/;
-- test/migrations.test.ts compares the two.
-- The custodian's journal decides about money; tables with a journal column mirror it for reading.
-- Amounts of u64 and more are TEXT. Times are ISO 8601 UTC unless the name says otherwise.

CREATE TABLE IF NOT EXISTS operations (
  id TEXT PRIMARY KEY,                 -- natural key, such as swap:<request key>
  seq INTEGER NOT NULL UNIQUE,         -- order of the journal
  revision INTEGER NOT NULL,           -- journal revision of this row; a lower one never overwrites it
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
  journal TEXT NOT NULL                -- the whole row as JSON; a lost journal is rebuilt from it
);
CREATE INDEX IF NOT EXISTS operations_by_kind ON operations (kind, seq DESC);
CREATE INDEX IF NOT EXISTS operations_landed_swaps ON operations (seq DESC) WHERE kind = 'swap' AND landed_slot IS NOT NULL;
CREATE INDEX IF NOT EXISTS operations_ended ON operations (updated_at) WHERE status <> 'waiting';
CREATE INDEX IF NOT EXISTS operations_absr_by_time ON operations (COALESCE(block_time, 0) DESC, seq DESC)
  WHERE kind IN ('swap', 'absr') AND status = 'finished';

-- The mark of the newest batch of the custodian's outbox, and the row of its write probe.
CREATE TABLE IF NOT EXISTS mirror_marks (
  name TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  born_after INTEGER,                  -- rows up to this revision are of a lost journal; null without one
  born_at INTEGER,                     -- when the present journal began after it; Unix milliseconds
  filler BLOB
) WITHOUT ROWID;

-- Payment requests that buy a token creation.
CREATE TABLE IF NOT EXISTS invoices (
  id TEXT PRIMARY KEY,                 -- UUID
  revision INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'completed')),
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS tokens (
  id TEXT PRIMARY KEY,                 -- decimal text of the numeric id
  revision INTEGER NOT NULL,
  token_id INTEGER NOT NULL UNIQUE,
  mint_address TEXT NOT NULL UNIQUE,
  creator_address TEXT,
  name TEXT NOT NULL,                  -- NFKC, case-folded: for search only
  symbol TEXT NOT NULL,                -- likewise
  listed_at TEXT,                      -- null until a listing is paid
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS tokens_of_creator ON tokens (creator_address, token_id) WHERE listed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_newest_listed ON tokens (token_id DESC) WHERE listed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_listed_at ON tokens (listed_at) WHERE listed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_by_symbol ON tokens (symbol, token_id) WHERE listed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_by_name ON tokens (name, token_id) WHERE listed_at IS NOT NULL;

-- The custodian forgets an unlisted token earlier than this table, and gives its mint another number when it is requested again.
CREATE TRIGGER IF NOT EXISTS tokens_renumbered BEFORE INSERT ON tokens
BEGIN
  DELETE FROM tokens
    WHERE mint_address = new.mint_address AND id <> new.id AND listed_at IS NULL AND revision < new.revision;
END;

-- Substrings of names and symbols of listed tokens, by trigram.
CREATE VIRTUAL TABLE IF NOT EXISTS tokens_text USING fts5 (name, symbol, tokenize = 'trigram');
CREATE TRIGGER IF NOT EXISTS tokens_listed AFTER INSERT ON tokens WHEN new.listed_at IS NOT NULL
BEGIN
  INSERT INTO tokens_text (rowid, name, symbol) VALUES (new.token_id, new.name, new.symbol);
END;
CREATE TRIGGER IF NOT EXISTS tokens_listed_later AFTER UPDATE ON tokens WHEN old.listed_at IS NULL AND new.listed_at IS NOT NULL
BEGIN
  INSERT INTO tokens_text (rowid, name, symbol) VALUES (new.token_id, new.name, new.symbol);
END;

CREATE TABLE IF NOT EXISTS listings (
  id TEXT PRIMARY KEY,                 -- listing_request_id, UUID
  revision INTEGER NOT NULL,
  token_id INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'confirmed')),
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS listings_newest ON listings (created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS listings_of_token ON listings (token_id, created_at DESC, id DESC);

-- Payments that bought nothing and are owed to their payer.
CREATE TABLE IF NOT EXISTS refunds (
  id TEXT PRIMARY KEY,                 -- signature of the payment
  revision INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('due', 'paid')),
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS refunds_newest ON refunds (created_at);

-- ASRY claims and epochs.
CREATE TABLE IF NOT EXISTS asry_claims (
  id TEXT PRIMARY KEY,                 -- first signature of the deposit
  revision INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS asry_epochs (
  id TEXT PRIMARY KEY,                 -- decimal text of the epoch's number
  revision INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);

-- Ownership proofs, one per hour. Rows are never changed or deleted.
CREATE TABLE IF NOT EXISTS proofs (
  id TEXT PRIMARY KEY,                 -- time in the message, ISO 8601
  revision INTEGER NOT NULL,
  hash TEXT NOT NULL UNIQUE,           -- the next proof refers to it
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
-- A proof is always published with a higher revision than the one that it names.
CREATE INDEX IF NOT EXISTS proofs_by_revision ON proofs (revision DESC);

-- Alarms that are active, or whose end was not reported yet.
CREATE TABLE IF NOT EXISTS alarms (
  name TEXT PRIMARY KEY,
  since TEXT NOT NULL,                 -- when it was raised, ISO 8601
  sent_at TEXT,                        -- when the log and the webhook last got it, ISO 8601; null before
  things INTEGER NOT NULL,             -- how many things that message was about, or fewer since
  ids TEXT NOT NULL DEFAULT '[]'       -- JSON: ids of those things, where they have ids
);
