-- The database's clock is the only one that leases, timers and expiries are read from.
-- A session may set `weir.now`: that is how the seeded simulator moves time.
CREATE FUNCTION weir_now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('weir.now', true), '')::timestamptz, clock_timestamp())
$$;--> statement-breakpoint
ALTER TABLE "quota_grant" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "api_key" SET (fillfactor = 70);--> statement-breakpoint
ALTER TABLE "organization" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "replica" SET (fillfactor = 50);
