-- A descending index on token_id serves no prefix search in ascending order.
CREATE INDEX IF NOT EXISTS tokens_of_creator ON tokens (creator_address, token_id) WHERE listed_at IS NOT NULL;
DROP INDEX IF EXISTS tokens_by_creator;
