-- Page views with made-up names, or of made-up visitors, no longer add rows without a bound.
CREATE TABLE IF NOT EXISTS pageview_new_sources (
  kind TEXT PRIMARY KEY,
  day TEXT NOT NULL,
  count INTEGER NOT NULL
) WITHOUT ROWID;
DROP TRIGGER IF EXISTS pageview_arrives;
CREATE TRIGGER IF NOT EXISTS pageview_arrives INSTEAD OF INSERT ON pageview_arrivals
BEGIN
  INSERT INTO pageviews (at_ms, path, referrer, ip) VALUES (new.at_ms, new.path, new.referrer, new.ip);
  INSERT INTO pageview_periods (period, pageviews, visitors, bots)
    VALUES ('total', 1, 0, 0), ('hour ' || new.hour, 1, 0, 0),
      ('day ' || new.day, 1, NOT EXISTS (SELECT 1 FROM pageview_visitors WHERE day = new.day AND visitor = new.visitor)
        AND coalesce((SELECT visitors FROM pageview_periods WHERE period = 'day ' || new.day), 0) < 1000000, 0)
    ON CONFLICT (period) DO UPDATE SET pageviews = pageviews + 1, visitors = visitors + excluded.visitors;
  INSERT INTO pageview_visitors (day, visitor) SELECT new.day, new.visitor
    WHERE (SELECT visitors FROM pageview_periods WHERE period = 'day ' || new.day) < 1000000
    ON CONFLICT DO NOTHING;
  INSERT INTO pageview_sources (kind, value, count)
    SELECT kind, CASE WHEN EXISTS (SELECT 1 FROM pageview_sources known WHERE known.kind = name.kind AND known.value = name.value)
        OR NOT EXISTS (SELECT 1 FROM pageview_new_sources today WHERE today.kind = name.kind AND day >= new.day AND today.count >= 1000)
      THEN value ELSE 'other' END, 1
    FROM (SELECT 'path' AS kind, new.path AS value UNION ALL SELECT 'referrer', new.referrer_host) name WHERE value IS NOT NULL
    ON CONFLICT (kind, value) DO UPDATE SET count = count + 1;
  INSERT INTO pageview_new_sources (kind, day, count)
    SELECT kind, new.day, 1 FROM pageview_sources
    WHERE ((kind = 'path' AND value = new.path) OR (kind = 'referrer' AND value = new.referrer_host)) AND count = 1
    ON CONFLICT (kind) DO UPDATE SET count = CASE WHEN day < excluded.day THEN 1 ELSE count + 1 END, day = max(day, excluded.day);
END;
