ALTER TABLE "deposit" DROP CONSTRAINT "deposit_is_positive";--> statement-breakpoint
ALTER TABLE "deposit" ADD COLUMN "kind" text DEFAULT 'payment' NOT NULL;--> statement-breakpoint
ALTER TABLE "deposit" ADD COLUMN "reference" text;--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "status" text DEFAULT 'active' NOT NULL;--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "status_reason" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "status_changed_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "max_keys" integer;--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "requests_per_minute" integer;--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "credit_limit_nano_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "credit_nano_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "deposit_by_reference" ON "deposit" USING btree ("organization_id","reference");--> statement-breakpoint
CREATE INDEX "organization_by_time" ON "organization" USING btree ("created_at","id");--> statement-breakpoint
ALTER TABLE "deposit" ADD CONSTRAINT "only_returned_credit_is_negative" CHECK ("deposit"."amount_nano_usd" <> 0 and ("deposit"."amount_nano_usd" < 0) = ("deposit"."kind" = 'credit_return'));--> statement-breakpoint
ALTER TABLE "organization" ADD CONSTRAINT "organization_credit_never_negative" CHECK ("organization"."credit_nano_usd" >= 0);--> statement-breakpoint
ALTER TABLE "organization" ADD CONSTRAINT "organization_credit_above_its_line_is_spent" CHECK ("organization"."credit_nano_usd" <= "organization"."credit_limit_nano_usd" or "organization"."balance_nano_usd" = 0);