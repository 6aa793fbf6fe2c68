CREATE TABLE "channel" (
	"id" text PRIMARY KEY NOT NULL,
	"protocol" text NOT NULL,
	"base_url" text NOT NULL,
	"sealed_key" text NOT NULL,
	"api_key_changed_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"models" jsonb NOT NULL,
	"priority" integer NOT NULL,
	"weight" double precision NOT NULL,
	"max_concurrency" integer NOT NULL,
	"timeout_ms" integer NOT NULL,
	"enabled" boolean NOT NULL,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "channel_weight_is_positive" CHECK ("channel"."weight" > 0),
	CONSTRAINT "channel_limits_are_positive" CHECK ("channel"."max_concurrency" > 0 and "channel"."timeout_ms" > 0)
);
