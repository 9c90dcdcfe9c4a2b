-- Logging and counting a page view becomes one statement.
CREATE VIEW IF NOT EXISTS pageview_arrivals AS
  SELECT at_ms, path, referrer, ip, '' AS referrer_host, '' AS day, '' AS hour, '' AS visitor FROM pageviews;
CREATE TRIGGER IF NOT EXISTS pageview_arrives INSTEAD OF INSERT ON pageview_arrivals
BEGIN
  INSERT INTO pageviews (at_ms, path, referrer, ip) VALUES (new.at_ms, new.path, new.referrer, new.ip);
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
