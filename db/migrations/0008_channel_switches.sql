CREATE TABLE "channel_switch" (
	"channel_id" text PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"reason" text NOT NULL,
	"changed_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "channel_switch_is_off" CHECK ("channel_switch"."state" in ('disabled', 'draining'))
);
--> statement-breakpoint
CREATE INDEX "task_running_by_channel" ON "task" USING btree ("channel_id") WHERE "task"."status" in ('pending', 'processing');