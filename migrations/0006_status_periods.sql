-- Status checks of each half hour since 1970, written by the cron each minute. Rows older than a day are deleted.
CREATE TABLE IF NOT EXISTS status_periods (
  period INTEGER PRIMARY KEY,
  checks INTEGER NOT NULL,
  failures TEXT NOT NULL               -- JSON object: part of the service to the checks that found it failing
);
