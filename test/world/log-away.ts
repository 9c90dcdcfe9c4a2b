/**
 * Statements that make the page-view log unavailable and available again. A renamed table is followed by the
 * trigger that
 * writes to it, so writes need a refusal of their own.
 * @module
 */
export const TAKE_LOG_AWAY = [
  "CREATE TRIGGER log_is_away BEFORE INSERT ON pageviews BEGIN SELECT RAISE(ABORT, 'away'); END",
  'ALTER TABLE pageviews RENAME TO pageviews_away',
];
export const BRING_LOG_BACK = ['ALTER TABLE pageviews_away RENAME TO pageviews', 'DROP TRIGGER log_is_away'];
