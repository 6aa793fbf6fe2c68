CREATE TABLE "usage_key_model_week" (
	"series_id" integer NOT NULL,
	"week" integer NOT NULL,
	"requests" integer NOT NULL,
	"charges" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"charged_nano_usd" bigint NOT NULL,
	"list_nano_usd" bigint NOT NULL,
	"input_tokens" bigint NOT NULL,
	"cached_input_tokens" bigint NOT NULL,
	"cache_write_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"reasoning_tokens" bigint NOT NULL,
	"audio_tokens" bigint NOT NULL,
	"duration_ms" bigint NOT NULL,
	"durations" integer NOT NULL,
	"first_token_ms" bigint NOT NULL,
	"first_tokens" integer NOT NULL,
	"cache_lookups" integer DEFAULT 0 NOT NULL,
	"cache_hits" integer DEFAULT 0 NOT NULL,
	"saved_nano_usd" bigint DEFAULT 0 NOT NULL,
	"owner_id" integer NOT NULL,
	CONSTRAINT "usage_key_model_week_series_id_week_pk" PRIMARY KEY("series_id","week")
);
--> statement-breakpoint
ALTER TABLE "usage_fold" ADD COLUMN "key_model_weeks_of" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "usage_key_model_week_by_owner" ON "usage_key_model_week" USING btree ("owner_id","week");