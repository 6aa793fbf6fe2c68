CREATE TABLE "kept_answer" (
	"key_id" text NOT NULL,
	"route" text NOT NULL,
	"repeat_hash" text NOT NULL,
	"organization_id" text NOT NULL,
	"request_hash" text NOT NULL,
	"request_id" uuid NOT NULL,
	"replica_id" text NOT NULL,
	"state" text DEFAULT 'running' NOT NULL,
	"dropped_because" text,
	"status" integer,
	"headers" jsonb,
	"body" "bytea",
	"body_bytes" integer DEFAULT 0 NOT NULL,
	"is_broken" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "kept_answer_key_id_route_repeat_hash_pk" PRIMARY KEY("key_id","route","repeat_hash"),
	CONSTRAINT "only_a_kept_answer_has_a_body" CHECK (("kept_answer"."state" = 'kept') = ("kept_answer"."body" is not null)),
	CONSTRAINT "a_dropped_answer_says_why" CHECK (("kept_answer"."state" = 'dropped') = ("kept_answer"."dropped_because" is not null)),
	CONSTRAINT "a_kept_answer_has_a_status" CHECK ("kept_answer"."state" <> 'kept' or "kept_answer"."status" is not null)
);
--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "keep_answers" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "task_request" ADD COLUMN "key_id" text;--> statement-breakpoint
-- An idempotency key belongs to the API key that sent it.
UPDATE "task_request" SET "key_id" = "task"."key_id" FROM "task" WHERE "task"."id" = "task_request"."task_id";--> statement-breakpoint
DELETE FROM "task_request" WHERE "key_id" IS NULL;--> statement-breakpoint
ALTER TABLE "task_request" ALTER COLUMN "key_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "task_request" DROP CONSTRAINT "task_request_organization_id_route_idempotency_key_pk";--> statement-breakpoint
ALTER TABLE "task_request" ADD CONSTRAINT "task_request_key_id_route_idempotency_key_pk" PRIMARY KEY("key_id","route","idempotency_key");--> statement-breakpoint
CREATE INDEX "kept_answer_by_expiry" ON "kept_answer" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "kept_bodies_by_organization" ON "kept_answer" USING btree ("organization_id","created_at") WHERE state = 'kept';