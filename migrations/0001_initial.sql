-- Every statement tolerates a database that was made with schema.sql before there were migrations.
CREATE TABLE IF NOT EXISTS operations (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL UNIQUE,
  revision INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('swap', 'token', 'asry', 'absr', 'refund')),
  status TEXT NOT NULL CHECK (status IN ('waiting', 'finished', 'failed')),
  detail TEXT NOT NULL,
  reason TEXT,
  signature TEXT UNIQUE,
  amount_lamports TEXT,
  expected_sats TEXT,
  btc_sats TEXT,
  btc_txid TEXT,
  landed_slot INTEGER,
  block_time INTEGER,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS operations_by_kind ON operations (kind, seq DESC);
CREATE INDEX IF NOT EXISTS operations_of_absr ON operations (block_time DESC, seq DESC)
  WHERE kind IN ('swap', 'absr') AND status = 'finished';
CREATE TABLE IF NOT EXISTS quote_budget (
  window INTEGER PRIMARY KEY,
  used INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS exchange_requests (
  key_hash TEXT PRIMARY KEY,
  body_hash TEXT NOT NULL,
  client TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('in_progress', 'done', 'unknown')),
  exchange_id TEXT,
  answer TEXT,
  reason TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS exchange_requests_by_age ON exchange_requests (created_at);
CREATE INDEX IF NOT EXISTS exchange_requests_by_client ON exchange_requests (client, created_at);
CREATE TABLE IF NOT EXISTS pageviews (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  path TEXT NOT NULL,
  referrer TEXT NOT NULL,
  ip TEXT
);
CREATE TABLE IF NOT EXISTS pageview_ip_mark (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  last_id INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS pageview_periods (
  period TEXT PRIMARY KEY,
  pageviews INTEGER NOT NULL,
  visitors INTEGER NOT NULL,
  bots INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pageview_sources (
  kind TEXT NOT NULL CHECK (kind IN ('path', 'referrer')),
  value TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (kind, value)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pageview_sources_by_count ON pageview_sources (kind, count DESC, value);
CREATE TABLE IF NOT EXISTS pageview_salts (
  day TEXT PRIMARY KEY,
  salt TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS pageview_visitors (
  day TEXT NOT NULL,
  visitor TEXT NOT NULL,
  PRIMARY KEY (day, visitor)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS invoices (
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'completed')),
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS tokens (
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  token_id INTEGER NOT NULL UNIQUE,
  mint_address TEXT NOT NULL UNIQUE,
  creator_address TEXT,
  name TEXT NOT NULL,
  symbol TEXT NOT NULL,
  listed_at TEXT,
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS tokens_by_creator ON tokens (creator_address, token_id DESC) WHERE listed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_by_symbol ON tokens (symbol, token_id) WHERE listed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS tokens_by_name ON tokens (name, token_id) WHERE listed_at IS NOT NULL;
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
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  token_id INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'confirmed')),
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS listings_by_time ON listings (created_at DESC);
CREATE INDEX IF NOT EXISTS listings_by_token ON listings (token_id, created_at DESC);
CREATE TABLE IF NOT EXISTS refunds (
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('due', 'paid')),
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS asry_claims (
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS asry_epochs (
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS proofs (
  id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  journal TEXT NOT NULL
);
