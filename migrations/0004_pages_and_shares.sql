-- Fair shares of quotes, indexes that pages continue on, and search by one or two letters.
CREATE TABLE IF NOT EXISTS quote_shares (
  window INTEGER NOT NULL,
  client TEXT NOT NULL,                -- hash of an address, of an IPv4 /24, or of an IPv6 /64, /56 or /48
  used INTEGER NOT NULL,
  PRIMARY KEY (window, client)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS operations_landed_swaps ON operations (seq DESC) WHERE kind = 'swap' AND landed_slot IS NOT NULL;
CREATE INDEX IF NOT EXISTS operations_absr_by_time ON operations (COALESCE(block_time, 0) DESC, seq DESC)
  WHERE kind IN ('swap', 'absr') AND status = 'finished';
CREATE INDEX IF NOT EXISTS tokens_newest_listed ON tokens (token_id DESC) WHERE listed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS listings_newest ON listings (created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS listings_of_token ON listings (token_id, created_at DESC, id DESC);
DROP INDEX IF EXISTS operations_of_absr;
DROP INDEX IF EXISTS listings_by_time;
DROP INDEX IF EXISTS listings_by_token;
CREATE VIRTUAL TABLE IF NOT EXISTS tokens_short USING fts5 (heads, grams, tokenize = 'ascii', detail = 'column', content = '',
  contentless_delete = 1);
CREATE VIEW IF NOT EXISTS tokens_letters AS
  SELECT token_id,
    hex(substr(name, 1, 1)) || ' ' || hex(substr(name, 1, 2)) || ' ' || hex(substr(symbol, 1, 1)) || ' ' || hex(substr(symbol, 1, 2))
      AS heads,
    (SELECT group_concat(hex(substr(name, places.value, 1)) || ' ' || hex(substr(name, places.value, 2)) || ' '
        || hex(substr(symbol, places.value, 1)) || ' ' || hex(substr(symbol, places.value, 2)), ' ')
      FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48]') places)
      AS grams
  FROM tokens WHERE listed_at IS NOT NULL;
INSERT INTO tokens_short (rowid, heads, grams)
  SELECT token_id, heads, grams FROM tokens_letters WHERE token_id NOT IN (SELECT rowid FROM tokens_short);
CREATE TRIGGER IF NOT EXISTS tokens_listed_short AFTER INSERT ON tokens WHEN new.listed_at IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO tokens_short (rowid, heads, grams) SELECT token_id, heads, grams FROM tokens_letters WHERE token_id = new.token_id;
END;
CREATE TRIGGER IF NOT EXISTS tokens_listed_later_short AFTER UPDATE ON tokens WHEN old.listed_at IS NULL AND new.listed_at IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO tokens_short (rowid, heads, grams) SELECT token_id, heads, grams FROM tokens_letters WHERE token_id = new.token_id;
END;
