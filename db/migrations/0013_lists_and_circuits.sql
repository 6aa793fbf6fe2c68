CREATE TABLE "channel_transition" (
	"id" uuid PRIMARY KEY NOT NULL,
	"channel_id" text NOT NULL,
	"model" text NOT NULL,
	"replica_id" text NOT NULL,
	"from_state" text NOT NULL,
	"to_state" text NOT NULL,
	"cause" text,
	"is_from_peer" boolean NOT NULL,
	"open_until" timestamp with time zone,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
DROP INDEX "task_by_organization";--> statement-breakpoint
DROP INDEX "webhook_delivery_by_organization";--> statement-breakpoint
ALTER TABLE "message_batch" ADD COLUMN "succeeded" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "message_batch" ADD COLUMN "errored" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "message_batch" ADD COLUMN "charged_nano_usd" bigint;--> statement-breakpoint
ALTER TABLE "task" ADD COLUMN "cancel_requested_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "webhook_delivery" ADD COLUMN "redeliveries" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_delivery" ADD COLUMN "earlier_attempts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "channel_transition_by_channel" ON "channel_transition" USING btree ("channel_id","at","id");--> statement-breakpoint
CREATE INDEX "channel_transition_by_circuit" ON "channel_transition" USING btree ("channel_id","model","replica_id","at","id");--> statement-breakpoint
CREATE INDEX "channel_transition_by_age" ON "channel_transition" USING btree ("at");--> statement-breakpoint
CREATE INDEX "message_batch_by_time" ON "message_batch" USING btree ("organization_id","created_at","id");--> statement-breakpoint
CREATE INDEX "message_batch_by_status" ON "message_batch" USING btree ("organization_id","status","created_at","id");--> statement-breakpoint
CREATE INDEX "message_batch_by_key" ON "message_batch" USING btree ("key_id","created_at","id");--> statement-breakpoint
CREATE INDEX "task_by_status" ON "task" USING btree ("organization_id","status","created_at","id");--> statement-breakpoint
CREATE INDEX "task_by_model" ON "task" USING btree ("organization_id","model","created_at","id");--> statement-breakpoint
CREATE INDEX "task_by_scene" ON "task" USING btree ("organization_id","scene","created_at","id");--> statement-breakpoint
CREATE INDEX "task_by_key" ON "task" USING btree ("key_id","created_at","id");--> statement-breakpoint
CREATE INDEX "task_by_time" ON "task" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "task_by_channel" ON "task" USING btree ("channel_id","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_delivery_by_status" ON "webhook_delivery" USING btree ("organization_id","status","created_at","task_id");--> statement-breakpoint
CREATE INDEX "task_by_organization" ON "task" USING btree ("organization_id","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_delivery_by_organization" ON "webhook_delivery" USING btree ("organization_id","created_at","task_id");--> statement-breakpoint
-- The items of archived batches are deleted, so the charges of these batches stay unknown.
UPDATE "message_batch" SET "succeeded" = "found"."succeeded", "errored" = "found"."errored", "charged_nano_usd" = "found"."charged"
FROM (
  SELECT "batch_id", count(*) FILTER (WHERE "result" = 'succeeded') AS "succeeded",
    count(*) FILTER (WHERE "result" = 'errored') AS "errored",
    coalesce(sum("usage_line"."charged_nano_usd") FILTER (WHERE "result" IS NOT NULL), 0) AS "charged"
  FROM "batch_item" LEFT JOIN "usage_line" ON "usage_line"."id" = "batch_item"."request_id"
  GROUP BY "batch_id"
) AS "found"
WHERE "found"."batch_id" = "message_batch"."id" AND "archived_at" IS NULL;
