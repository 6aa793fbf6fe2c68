CREATE TABLE "upstream_key" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"name" text NOT NULL,
	"protocol" text NOT NULL,
	"base_url" text NOT NULL,
	"dialect" text,
	"api_version" text,
	"sealed_key" text NOT NULL,
	"key_tested" boolean NOT NULL,
	"models" jsonb NOT NULL,
	"priority" integer NOT NULL,
	"last_refusal" jsonb,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"rotated_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "upstream_key_is_gone_when_revoked" CHECK (("upstream_key"."revoked_at" is null) = ("upstream_key"."sealed_key" <> ''))
);
--> statement-breakpoint
ALTER TABLE "organization" ADD COLUMN "own_keys" text DEFAULT 'only' NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "list_nano_usd" bigint;--> statement-breakpoint
ALTER TABLE "task" ADD COLUMN "own_only" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "upstream_key" ADD CONSTRAINT "upstream_key_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "upstream_key_by_organization" ON "upstream_key" USING btree ("organization_id","created_at","id");