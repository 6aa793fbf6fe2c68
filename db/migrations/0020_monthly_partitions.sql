CREATE TABLE "closed_channel" (
	"day" date NOT NULL,
	"channel_id" text NOT NULL,
	"model" text NOT NULL,
	"requests" bigint NOT NULL,
	"list_nano_usd" bigint NOT NULL,
	"charged_nano_usd" bigint NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"paid_nano_usd" bigint NOT NULL,
	"paid_requests" bigint NOT NULL,
	CONSTRAINT "closed_channel_day_channel_id_model_pk" PRIMARY KEY("day","channel_id","model")
);
--> statement-breakpoint
CREATE TABLE "closed_charge" (
	"closed_until" timestamp with time zone NOT NULL,
	"organization_id" text NOT NULL,
	"key_id" text NOT NULL,
	"lines" bigint NOT NULL,
	"charged_nano_usd" bigint NOT NULL,
	"overruns" bigint NOT NULL,
	"overrun_nano_usd" bigint NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	CONSTRAINT "closed_charge_key_id_closed_until_organization_id_pk" PRIMARY KEY("key_id","closed_until","organization_id")
);
--> statement-breakpoint
CREATE TABLE "closed_payer" (
	"id" uuid PRIMARY KEY NOT NULL,
	"charged_nano_usd" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage_retention" (
	"table_name" text PRIMARY KEY NOT NULL,
	"closed_until" timestamp with time zone,
	"rows_since" timestamp with time zone,
	"last_xid" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
INSERT INTO "usage_retention" ("table_name") VALUES ('usage_line'), ('call_record');--> statement-breakpoint
-- The rows stay where they are: the table becomes the first partition, and no row is copied.
ALTER TABLE "usage_line" RENAME TO "usage_line_earlier";--> statement-breakpoint
ALTER INDEX "usage_line_pkey" RENAME TO "usage_line_earlier_pkey";--> statement-breakpoint
ALTER INDEX "usage_by_key" RENAME TO "usage_line_earlier_by_key";--> statement-breakpoint
ALTER INDEX "usage_by_organization" RENAME TO "usage_line_earlier_by_organization";--> statement-breakpoint
ALTER INDEX "usage_by_transaction" RENAME TO "usage_line_earlier_by_transaction";--> statement-breakpoint
CREATE TABLE "usage_line" (
  LIKE "usage_line_earlier" INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
  CONSTRAINT "usage_line_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");--> statement-breakpoint
CREATE INDEX "usage_by_key" ON "usage_line" USING btree ("key_id","at","id");--> statement-breakpoint
CREATE INDEX "usage_by_organization" ON "usage_line" USING btree ("organization_id","at","id");--> statement-breakpoint
CREATE INDEX "usage_by_transaction" ON "usage_line" USING brin ("xid");--> statement-breakpoint
CREATE TABLE "usage_line_default" PARTITION OF "usage_line" DEFAULT;--> statement-breakpoint
ALTER TABLE "call_record" RENAME TO "call_record_earlier";--> statement-breakpoint
ALTER INDEX "call_record_pkey" RENAME TO "call_record_earlier_pkey";--> statement-breakpoint
ALTER INDEX "call_record_by_key" RENAME TO "call_record_earlier_by_key";--> statement-breakpoint
ALTER INDEX "call_record_by_organization" RENAME TO "call_record_earlier_by_organization";--> statement-breakpoint
ALTER INDEX "call_record_by_transaction" RENAME TO "call_record_earlier_by_transaction";--> statement-breakpoint
CREATE TABLE "call_record" (
  LIKE "call_record_earlier" INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
  CONSTRAINT "call_record_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");--> statement-breakpoint
CREATE INDEX "call_record_by_key" ON "call_record" USING btree ("key_id","at","id");--> statement-breakpoint
CREATE INDEX "call_record_by_organization" ON "call_record" USING btree ("organization_id","at","id");--> statement-breakpoint
CREATE INDEX "call_record_by_transaction" ON "call_record" USING brin ("xid");--> statement-breakpoint
CREATE TABLE "call_record_default" PARTITION OF "call_record" DEFAULT;--> statement-breakpoint
-- An id of UUID version 7 begins with its time, ms since the Unix epoch. The first partition ends with this
-- month in UTC. Ids of a later time, e.g. of a replica with a wrong clock, move to the default partition.
DO $$
DECLARE
  parent text;
  hex text := lpad(to_hex((extract(epoch FROM
    (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC') * 1000)::int8), 12, '0');
  bound uuid := left(hex, 8) || '-' || right(hex, 4) || '-7000-8000-000000000000';
BEGIN
  FOREACH parent IN ARRAY ARRAY['usage_line', 'call_record'] LOOP
    EXECUTE format('WITH late AS (DELETE FROM %I WHERE id >= %L RETURNING *) INSERT INTO %I SELECT * FROM late',
      parent || '_earlier', bound, parent || '_default');
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)',
      parent, parent || '_earlier', bound);
  END LOOP;
END $$;
