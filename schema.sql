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
CREATE INDEX IF NOT EXISTS operations_of_absr ON operations (block_time DESC, seq DESC)
  WHERE kind IN ('swap', 'absr') AND status = 'finished';

-- Quotes that reads have asked of the routing provider, by two-hour window since 1970.
CREATE TABLE IF NOT EXISTS quote_budget (
  window INTEGER PRIMARY KEY,
  used INTEGER NOT NULL
);

-- Creates that may have reached the exchange provider. The row is written before the provider is asked; kept for 7 days.
CREATE TABLE IF NOT EXISTS exchange_requests (
  key_hash TEXT PRIMARY KEY,           -- SHA-256 of route and Idempotency-Key; random for a request without one
  body_hash TEXT NOT NULL,
  client TEXT NOT NULL,                -- hash of the caller's network, for the limit an hour
  state TEXT NOT NULL CHECK (state IN ('in_progress', 'done', 'unknown')),
  exchange_id TEXT,                    -- the provider's
  answer TEXT,                         -- JSON of the answer, when done
  reason TEXT,                         -- why unknown
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS exchange_requests_by_age ON exchange_requests (created_at);
CREATE INDEX IF NOT EXISTS exchange_requests_by_client ON exchange_requests (client, created_at);

-- The page-view log. Rows are only appended; ip is emptied after ANALYTICS_IP_RETENTION_DAYS.
CREATE TABLE IF NOT EXISTS pageviews (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,              -- Unix milliseconds
  path TEXT NOT NULL,
  referrer TEXT NOT NULL,              -- without credentials, query and fragment; may be empty
  ip TEXT
);
-- How far addresses are emptied.
CREATE TABLE IF NOT EXISTS pageview_ip_mark (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  last_id INTEGER NOT NULL
);
-- Sums of the log, kept in the same transaction: 'total', 'day 2026-11-20', 'hour 2026-11-20T16', all UTC.
CREATE TABLE IF NOT EXISTS pageview_periods (
  period TEXT PRIMARY KEY,
  pageviews INTEGER NOT NULL,
  visitors INTEGER NOT NULL,           -- distinct ones, counted for days only
  bots INTEGER NOT NULL                -- views of crawlers, in no other figure
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pageview_sources (
  kind TEXT NOT NULL CHECK (kind IN ('path', 'referrer')),
  value TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (kind, value)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pageview_sources_by_count ON pageview_sources (kind, count DESC, value);
-- Who was here today. Salt and keys are deleted after the day.
CREATE TABLE IF NOT EXISTS pageview_salts (
  day TEXT PRIMARY KEY,
  salt TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS pageview_visitors (
  day TEXT NOT NULL,
  visitor TEXT NOT NULL,               -- keyed hash of network and user agent
  PRIMARY KEY (day, visitor)
) WITHOUT ROWID;
-- A page view is inserted here: one statement logs and counts it. Columns that the log does not keep serve its sums.
CREATE VIEW IF NOT EXISTS pageview_arrivals AS
  SELECT at_ms, path, referrer, ip, '' AS referrer_host, '' AS day, '' AS hour, '' AS visitor FROM pageviews;
CREATE TRIGGER IF NOT EXISTS pageview_arrives INSTEAD OF INSERT ON pageview_arrivals
BEGIN
  INSERT INTO pageviews (at_ms, path, referrer, ip) VALUES (new.at_ms, new.path, new.referrer, new.ip);
  -- Before the visitor is stored: the day's count grows only when it is new.
  INSERT INTO pageview_periods (period, pageviews, visitors, bots)
    VALUES ('total', 1, 0, 0), ('hour ' || new.hour, 1, 0, 0),
      ('day ' || new.day, 1, NOT EXISTS (SELECT 1 FROM pageview_visitors WHERE day = new.day AND visitor = new.visitor), 0)
    ON CONFLICT (period) DO UPDATE SET pageviews = pageviews + 1, visitors = visitors + excluded.visitors;
  INSERT INTO pageview_visitors (day, visitor) VALUES (new.day, new.visitor) ON CONFLICT DO NOTHING;
  INSERT INTO pageview_sources (kind, value, count) VALUES ('path', new.path, 1)
    ON CONFLICT (kind, value) DO UPDATE SET count = count + 1;
  INSERT INTO pageview_sources (kind, value, count) SELECT 'referrer', new.referrer_host, 1 WHERE new.referrer_host IS NOT NULL
    ON CONFLICT (kind, value) DO UPDATE SET count = count + 1;
END;

-- Requests for a token creation. Mirrors of the custodian's rows, as are all tables with a journal column.
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
  listed_at TEXT,                      -- null while nobody has paid for its listing
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS tokens_of_creator ON tokens (creator_address, token_id) WHERE listed_at IS NOT NULL;
DROP INDEX IF EXISTS tokens_by_creator; -- counted down, which no prefix can use
CREATE INDEX IF NOT EXISTS tokens_by_symbol ON tokens (symbol, token_id) WHERE listed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_by_name ON tokens (name, token_id) WHERE listed_at IS NOT NULL;

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
CREATE INDEX IF NOT EXISTS listings_by_time ON listings (created_at DESC);
CREATE INDEX IF NOT EXISTS listings_by_token ON listings (token_id, created_at DESC);

-- Payments that bought nothing and are owed back.
CREATE TABLE IF NOT EXISTS refunds (
  id TEXT PRIMARY KEY,                 -- signature of the payment
  revision INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('due', 'paid')),
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);

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

-- Ownership proofs, one an hour. The archive: nothing here is ever changed or deleted.
CREATE TABLE IF NOT EXISTS proofs (
  id TEXT PRIMARY KEY,                 -- time in the message, ISO 8601
  revision INTEGER NOT NULL,
  hash TEXT NOT NULL UNIQUE,           -- what the next proof names as the one before it
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
