-- Page views that arrived through the queue and are counted: a message that is delivered again changes nothing.
CREATE TABLE IF NOT EXISTS pageview_messages (
  hour TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (hour, id)
) WITHOUT ROWID;
