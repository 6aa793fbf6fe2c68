CREATE TABLE "cache_generation" (
	"organization_id" text NOT NULL,
	"model_id" text NOT NULL,
	"generation" integer NOT NULL,
	CONSTRAINT "cache_generation_organization_id_model_id_pk" PRIMARY KEY("organization_id","model_id")
);
--> statement-breakpoint
CREATE TABLE "cache_removal" (
	"organization_id" text NOT NULL,
	"entry_id" uuid NOT NULL,
	"keep_until" timestamp with time zone NOT NULL,
	CONSTRAINT "cache_removal_organization_id_entry_id_pk" PRIMARY KEY("organization_id","entry_id")
);
--> statement-breakpoint
CREATE TABLE "cache_vote" (
	"organization_id" text NOT NULL,
	"entry_id" uuid NOT NULL,
	"key_id" text NOT NULL,
	"feedback_type" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"keep_until" timestamp with time zone NOT NULL,
	CONSTRAINT "cache_vote_organization_id_entry_id_key_id_pk" PRIMARY KEY("organization_id","entry_id","key_id")
);
--> statement-breakpoint
CREATE INDEX "cache_removal_by_age" ON "cache_removal" USING btree ("keep_until");--> statement-breakpoint
CREATE INDEX "cache_vote_by_age" ON "cache_vote" USING btree ("keep_until");--> statement-breakpoint
CREATE INDEX "call_record_by_cache_entry" ON "call_record" USING btree ((detail->>'cache_entry_id')) WHERE (detail->>'cache_entry_id') is not null;--> statement-breakpoint
CREATE INDEX "usage_by_cache_entry" ON "usage_line" USING btree ((detail->>'cache_entry_id')) WHERE (detail->>'cache_entry_id') is not null;