CREATE TABLE "outcome_minute" (
	"channel_id" text NOT NULL,
	"model" text NOT NULL,
	"scene" text NOT NULL,
	"minute" timestamp with time zone NOT NULL,
	"succeeded" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "outcome_minute_model_channel_id_minute_pk" PRIMARY KEY("model","channel_id","minute"),
	CONSTRAINT "outcomes_never_negative" CHECK ("outcome_minute"."succeeded" >= 0 and "outcome_minute"."failed" >= 0)
);
--> statement-breakpoint
CREATE TABLE "ranking" (
	"id" integer PRIMARY KEY NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"body" jsonb NOT NULL,
	CONSTRAINT "there_is_one_ranking" CHECK ("ranking"."id" = 1)
);
--> statement-breakpoint
CREATE INDEX "outcome_minute_by_time" ON "outcome_minute" USING btree ("minute");