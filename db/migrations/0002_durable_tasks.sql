CREATE TABLE "task" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"key_id" text NOT NULL,
	"request_id" uuid NOT NULL,
	"scene" text NOT NULL,
	"model" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"input" jsonb,
	"hold_id" uuid NOT NULL,
	"hold_nano_usd" bigint NOT NULL,
	"submission_key" uuid NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"channel_id" text,
	"submitted_at" timestamp with time zone,
	"job" jsonb,
	"produced" jsonb,
	"outputs" jsonb,
	"error_code" text,
	"error_message" text,
	"billing_id" uuid,
	"webhook_url" text,
	"deadline_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "only_a_completed_task_is_charged" CHECK (("task"."status" = 'completed') = ("task"."billing_id" is not null)),
	CONSTRAINT "a_failed_task_says_why" CHECK ("task"."status" <> 'failed' or "task"."error_code" is not null),
	CONSTRAINT "an_ended_task_has_an_end" CHECK (("task"."status" in ('completed', 'failed')) = ("task"."ended_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "task_request" (
	"organization_id" text NOT NULL,
	"route" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"body_hash" text NOT NULL,
	"task_id" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "task_request_organization_id_route_idempotency_key_pk" PRIMARY KEY("organization_id","route","idempotency_key")
);
--> statement-breakpoint
ALTER TABLE "task" ADD CONSTRAINT "task_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task" ADD CONSTRAINT "task_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_key"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "task_by_organization" ON "task" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE INDEX "task_request_by_age" ON "task_request" USING btree ("created_at");