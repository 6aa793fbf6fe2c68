CREATE TABLE "alert_delivery" (
	"id" text PRIMARY KEY NOT NULL,
	"alert_id" text NOT NULL,
	"endpoint_id" text NOT NULL,
	"owner_id" text NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_status" integer,
	"redeliveries" integer DEFAULT 0 NOT NULL,
	"earlier_attempts" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "alert_delivery_once_for_each_endpoint" UNIQUE("alert_id","endpoint_id"),
	CONSTRAINT "alert_attempts_never_negative" CHECK ("alert_delivery"."attempts" >= 0)
);
--> statement-breakpoint
CREATE TABLE "alert_endpoint" (
	"id" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"name" text NOT NULL,
	"medium" text NOT NULL,
	"target" text NOT NULL,
	"kinds" text[] NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"sealed_secret" text,
	"deleted_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "alert_endpoint_signs_webhooks_only" CHECK (("alert_endpoint"."medium" = 'webhook') = ("alert_endpoint"."sealed_secret" is not null)),
	CONSTRAINT "alert_endpoint_is_bounded" CHECK (length(name) <= 200 and length(target) <= 2048)
);
--> statement-breakpoint
CREATE TABLE "alert_settings" (
	"owner_id" text PRIMARY KEY NOT NULL,
	"low_balance_nano_usd" bigint,
	"unused_days" integer NOT NULL,
	"unusual_factor" double precision NOT NULL,
	CONSTRAINT "alert_settings_are_positive" CHECK (unused_days > 0 and "alert_settings"."unusual_factor" > 1)
);
--> statement-breakpoint
CREATE TABLE "alert" (
	"id" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"kind" text NOT NULL,
	"cause" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" text NOT NULL,
	"subject_name" text NOT NULL,
	"figures" jsonb NOT NULL,
	"ended_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "alert_once_for_its_cause" UNIQUE("owner_id","cause")
);
--> statement-breakpoint
CREATE TABLE "alert_turn" (
	"rule" text PRIMARY KEY NOT NULL,
	"evaluated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "alert_delivery" ADD CONSTRAINT "alert_delivery_alert_id_alert_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alert"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_delivery" ADD CONSTRAINT "alert_delivery_endpoint_id_alert_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."alert_endpoint"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alert_delivery_by_owner" ON "alert_delivery" USING btree ("owner_id","created_at","id");--> statement-breakpoint
CREATE INDEX "alert_delivery_by_endpoint" ON "alert_delivery" USING btree ("endpoint_id","created_at","id");--> statement-breakpoint
CREATE INDEX "alert_delivery_queued" ON "alert_delivery" USING btree ("created_at") WHERE status = 'queued';--> statement-breakpoint
CREATE INDEX "alert_endpoint_by_owner" ON "alert_endpoint" USING btree ("owner_id","created_at","id") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "alert_by_owner" ON "alert" USING btree ("owner_id","created_at","id");--> statement-breakpoint
CREATE INDEX "alert_by_kind" ON "alert" USING btree ("owner_id","kind","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "alert_of_a_channel_that_is_down" ON "alert" USING btree ("subject_id") WHERE kind = 'channel_down' and ended_at is null;