ALTER TABLE "message_batch" ADD COLUMN "program" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "task" ADD COLUMN "record" jsonb;--> statement-breakpoint
CREATE INDEX "task_by_request" ON "task" USING btree ("request_id");