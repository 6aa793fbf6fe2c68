CREATE TABLE "batch_item" (
	"batch_id" text NOT NULL,
	"position" integer NOT NULL,
	"custom_id" text NOT NULL,
	"params" text NOT NULL,
	"request_id" uuid NOT NULL,
	"result" text,
	"answer" text,
	"draft" jsonb,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "batch_item_batch_id_position_pk" PRIMARY KEY("batch_id","position")
);
--> statement-breakpoint
CREATE TABLE "message_batch" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"key_id" text NOT NULL,
	"status" text DEFAULT 'received' NOT NULL,
	"headers" jsonb NOT NULL,
	"total" integer DEFAULT 0 NOT NULL,
	"counts" jsonb,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"cancel_initiated_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"archived_at" timestamp with time zone,
	CONSTRAINT "an_ended_batch_is_counted" CHECK (("message_batch"."status" = 'ended') = ("message_batch"."counts" is not null))
);
--> statement-breakpoint
ALTER TABLE "batch_item" ADD CONSTRAINT "batch_item_batch_id_message_batch_id_fk" FOREIGN KEY ("batch_id") REFERENCES "public"."message_batch"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "message_batch" ADD CONSTRAINT "message_batch_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "message_batch" ADD CONSTRAINT "message_batch_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_key"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "batch_items_to_do" ON "batch_item" USING btree ("batch_id","position") WHERE result is null;--> statement-breakpoint
CREATE INDEX "message_batch_by_organization" ON "message_batch" USING btree ("organization_id","id");--> statement-breakpoint
CREATE INDEX "message_batch_by_end" ON "message_batch" USING btree ("ended_at") WHERE archived_at is null;