CREATE TABLE "budget" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"key_id" text,
	"period" text NOT NULL,
	"limit_nano_usd" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "one_budget_per_scope_and_period" UNIQUE NULLS NOT DISTINCT("organization_id","key_id","period"),
	CONSTRAINT "budget_limit_never_negative" CHECK ("budget"."limit_nano_usd" >= 0)
);
--> statement-breakpoint
CREATE TABLE "budget_window" (
	"budget_id" text NOT NULL,
	"starts_on" date NOT NULL,
	"used_nano_usd" bigint NOT NULL,
	"held_nano_usd" bigint NOT NULL,
	"ceiling_nano_usd" bigint NOT NULL,
	CONSTRAINT "budget_window_budget_id_starts_on_pk" PRIMARY KEY("budget_id","starts_on"),
	CONSTRAINT "budget_used_never_negative" CHECK ("budget_window"."used_nano_usd" >= 0),
	CONSTRAINT "budget_held_never_negative" CHECK ("budget_window"."held_nano_usd" >= 0),
	CONSTRAINT "window_never_over_its_budget" CHECK ("budget_window"."used_nano_usd" + "budget_window"."held_nano_usd" <= "budget_window"."ceiling_nano_usd")
);
--> statement-breakpoint
DROP INDEX "one_open_grant_per_key_and_replica";--> statement-breakpoint
ALTER TABLE "hold" ADD COLUMN "uncharged_nano_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "hold" ADD COLUMN "day" date;--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "time_zone" text DEFAULT 'UTC' NOT NULL;--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "has_budgets" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "quota_grant" ADD COLUMN "day" date;--> statement-breakpoint
ALTER TABLE "budget" ADD CONSTRAINT "budget_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "budget" ADD CONSTRAINT "budget_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_key"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "budget_window" ADD CONSTRAINT "budget_window_budget_id_budget_id_fk" FOREIGN KEY ("budget_id") REFERENCES "public"."budget"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "budget_by_key" ON "budget" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "holds_by_day" ON "hold" USING btree ("organization_id","day");--> statement-breakpoint
CREATE INDEX "open_grants_of_key" ON "quota_grant" USING btree ("key_id","replica_id") WHERE status = 'open';--> statement-breakpoint
CREATE INDEX "grants_by_day" ON "quota_grant" USING btree ("organization_id","day");--> statement-breakpoint
-- Returns when the day of `at` ends in a time zone: the first instant whose date is a later one. PostgreSQL's
-- midnight may be up to two hours after that, if clocks change at midnight.
CREATE FUNCTION weir_day_end(at timestamptz, zone text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT min(candidate) FROM (
    SELECT ((at AT TIME ZONE zone)::date + 1)::timestamp AT TIME ZONE zone - earlier * interval '30 minutes' AS candidate
    FROM generate_series(0, 4) AS earlier) AS candidates
  WHERE candidate > at AND (candidate AT TIME ZONE zone)::date > (at AT TIME ZONE zone)::date
$$;
