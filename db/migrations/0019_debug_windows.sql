CREATE TABLE "debug_copy" (
	"organization_id" text NOT NULL,
	"request_id" uuid NOT NULL,
	"window_id" text NOT NULL,
	"key_id" text NOT NULL,
	"path" text NOT NULL,
	"request_type" text,
	"request_body" "bytea" NOT NULL,
	"request_bytes" bigint NOT NULL,
	"status" integer NOT NULL,
	"answer_type" text,
	"answer_body" "bytea" NOT NULL,
	"answer_bytes" bigint NOT NULL,
	"at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "debug_copy_organization_id_request_id_pk" PRIMARY KEY("organization_id","request_id")
);
--> statement-breakpoint
CREATE TABLE "debug_event" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"window_id" text NOT NULL,
	"action" text NOT NULL,
	"token_id" text,
	"request_id" uuid,
	"at" timestamp with time zone DEFAULT weir_now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "debug_window" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"key_id" text,
	"max_bytes" bigint NOT NULL,
	"max_body_bytes" integer NOT NULL,
	"keep_hours" integer NOT NULL,
	"stored_calls" integer DEFAULT 0 NOT NULL,
	"stored_bytes" bigint DEFAULT 0 NOT NULL,
	"opened_at" timestamp with time zone NOT NULL,
	"closes_at" timestamp with time zone NOT NULL,
	"closed_at" timestamp with time zone,
	"is_full" boolean DEFAULT false NOT NULL,
	"keep_until" timestamp with time zone NOT NULL,
	CONSTRAINT "debug_window_in_bytes" CHECK ("debug_window"."stored_bytes" between 0 and "debug_window"."max_bytes")
);
--> statement-breakpoint
CREATE INDEX "debug_copy_by_window" ON "debug_copy" USING btree ("window_id");--> statement-breakpoint
CREATE INDEX "debug_event_by_organization" ON "debug_event" USING btree ("organization_id","at","id");--> statement-breakpoint
CREATE INDEX "debug_window_by_organization" ON "debug_window" USING btree ("organization_id","opened_at","id");--> statement-breakpoint
CREATE INDEX "open_debug_windows" ON "debug_window" USING btree ("closes_at") WHERE closed_at is null;--> statement-breakpoint
CREATE INDEX "debug_window_by_age" ON "debug_window" USING btree ("keep_until");--> statement-breakpoint
-- A record of who read prompts is worth nothing if it can be changed.
CREATE FUNCTION weir_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are never changed or deleted', TG_TABLE_NAME;
END
$$;--> statement-breakpoint
CREATE TRIGGER debug_event_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "debug_event"
  FOR EACH STATEMENT EXECUTE FUNCTION weir_refuse_change();
