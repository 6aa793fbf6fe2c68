CREATE TABLE "audit_head" (
	"organization_id" text PRIMARY KEY NOT NULL,
	"seq" bigint DEFAULT 0 NOT NULL,
	"hash" text DEFAULT '' NOT NULL,
	"at" timestamp with time zone DEFAULT to_timestamp(0) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"organization_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"actor_label" text NOT NULL,
	"credential_id" text,
	"address" text NOT NULL,
	"request_id" text,
	"action" text NOT NULL,
	"subject_id" text NOT NULL,
	"before" jsonb,
	"after" jsonb,
	"previous_hash" text NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "audit_log_organization_id_seq_pk" PRIMARY KEY("organization_id","seq")
);
--> statement-breakpoint
ALTER TABLE "access_token" ADD COLUMN "name" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "access_token" ADD COLUMN "scopes" text[] DEFAULT '{admin}' NOT NULL;--> statement-breakpoint
ALTER TABLE "access_token" ADD COLUMN "created_by" text;--> statement-breakpoint
ALTER TABLE "access_token" ADD COLUMN "expires_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "access_token" ADD COLUMN "last_used_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "audit_log_by_subject" ON "audit_log" USING btree ("organization_id","subject_id","seq");--> statement-breakpoint
CREATE INDEX "audit_log_by_actor" ON "audit_log" USING btree ("organization_id","actor_id","seq");--> statement-breakpoint
CREATE INDEX "audit_log_by_time" ON "audit_log" USING btree ("organization_id","at","seq");--> statement-breakpoint
-- A log that can be changed proves nothing. An owner of the table can still drop the trigger, and the chain of
-- hashes shows what he does then.
CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_log"
  FOR EACH STATEMENT EXECUTE FUNCTION weir_refuse_change();
