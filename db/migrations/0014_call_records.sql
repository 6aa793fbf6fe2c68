CREATE TABLE "call_record" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"key_id" text NOT NULL,
	"scene" text NOT NULL,
	"model" text NOT NULL,
	"model_vendor" text NOT NULL,
	"channel_id" text NOT NULL,
	"outcome" text NOT NULL,
	"status" integer NOT NULL,
	"error_code" text,
	"fault" text,
	"task_id" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"protocol" text DEFAULT '' NOT NULL,
	"program" text DEFAULT '' NOT NULL,
	"authenticated_us" integer,
	"reserved_us" integer,
	"routed_us" integer,
	"first_token_ms" integer,
	"ended_ms" integer,
	"reasoning_tokens" integer DEFAULT 0 NOT NULL,
	"audio_tokens" integer DEFAULT 0 NOT NULL,
	"detail" jsonb,
	"xid" bigint DEFAULT pg_current_xact_id()::text::int8 NOT NULL
);
--> statement-breakpoint
DROP INDEX "usage_by_key";--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
-- An earlier version did not store when a call reserved its money.
UPDATE "usage_line" SET "at" = "created_at";--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "protocol" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "program" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "authenticated_us" integer;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "reserved_us" integer;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "routed_us" integer;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "first_token_ms" integer;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "ended_ms" integer;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "reasoning_tokens" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "audio_tokens" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "detail" jsonb;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "xid" bigint DEFAULT pg_current_xact_id()::text::int8 NOT NULL;--> statement-breakpoint
CREATE INDEX "call_record_by_key" ON "call_record" USING btree ("key_id","at","id");--> statement-breakpoint
CREATE INDEX "call_record_by_organization" ON "call_record" USING btree ("organization_id","at","id");--> statement-breakpoint
CREATE INDEX "call_record_by_transaction" ON "call_record" USING brin ("xid");--> statement-breakpoint
CREATE INDEX "usage_by_organization" ON "usage_line" USING btree ("organization_id","at","id");--> statement-breakpoint
CREATE INDEX "usage_by_transaction" ON "usage_line" USING brin ("xid");--> statement-breakpoint
CREATE INDEX "usage_by_key" ON "usage_line" USING btree ("key_id","at","id");