ALTER TABLE "actor" ADD COLUMN "organization_id" text;--> statement-breakpoint
ALTER TABLE "actor" ADD COLUMN "state" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "actor" ADD COLUMN "since" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "actor_event" ADD COLUMN "machine_version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "actor_event" ADD COLUMN "context_hash" text;--> statement-breakpoint
ALTER TABLE "actor_event" ADD COLUMN "money" jsonb;--> statement-breakpoint
-- The state as a path: `{"processing": {"unknown": "asking"}}` becomes `processing.unknown.asking`.
WITH RECURSIVE "path" AS (
  SELECT "kind", "id", '' AS "prefix", "snapshot" -> 'value' AS "rest" FROM "actor"
  UNION ALL
  SELECT "kind", "id", "prefix" || "step"."key" || '.', "step"."value"
  FROM "path", LATERAL jsonb_each(
    CASE WHEN jsonb_typeof("rest") = 'object' THEN "rest" ELSE '{}'::jsonb END) AS "step"
)
UPDATE "actor" SET "state" = "prefix" || ("rest" #>> '{}'), "since" = "updated_at"
FROM "path"
WHERE "path"."kind" = "actor"."kind" AND "path"."id" = "actor"."id" AND jsonb_typeof("rest") = 'string';--> statement-breakpoint
UPDATE "actor" SET "organization_id" = "task"."organization_id"
FROM "task" WHERE "actor"."kind" = 'task' AND "task"."id" = "actor"."id";--> statement-breakpoint
UPDATE "actor" SET "organization_id" = "message_batch"."organization_id"
FROM "message_batch" WHERE "actor"."kind" = 'batch' AND "message_batch"."id" = "actor"."id";--> statement-breakpoint
UPDATE "actor" SET "organization_id" = "webhook_delivery"."organization_id"
FROM "webhook_delivery" WHERE "actor"."kind" = 'webhook' AND "webhook_delivery"."task_id" = "actor"."id";--> statement-breakpoint
ALTER TABLE "actor" ADD COLUMN "top_state" text GENERATED ALWAYS AS (split_part(state, '.', 1)) STORED NOT NULL;--> statement-breakpoint
CREATE INDEX "actor_by_state" ON "actor" USING btree ("kind","top_state","since");--> statement-breakpoint
CREATE INDEX "actor_by_organization" ON "actor" USING btree ("organization_id","kind","since");--> statement-breakpoint
CREATE INDEX "live_actors_by_since" ON "actor" USING btree ("kind","since") WHERE live;