CREATE TABLE "kept_change" (
	"organization_id" text NOT NULL,
	"actor_id" text NOT NULL,
	"route" text NOT NULL,
	"repeat_hash" text NOT NULL,
	"request_hash" text NOT NULL,
	"answer" "bytea" NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "kept_change_organization_id_actor_id_route_repeat_hash_pk" PRIMARY KEY("organization_id","actor_id","route","repeat_hash")
);
--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "previous_key_hash" text;--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "previous_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "tags" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "external_id" text;--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "deleted_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "kept_change_by_expiry" ON "kept_change" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "api_key_by_previous_hash" ON "api_key" USING btree ("previous_key_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "api_key_by_external_id" ON "api_key" USING btree ("organization_id","external_id") WHERE deleted_at is null;--> statement-breakpoint
ALTER TABLE "api_key" ADD CONSTRAINT "previous_secret_has_an_end" CHECK (("api_key"."previous_key_hash" is null) = ("api_key"."previous_until" is null));--> statement-breakpoint
ALTER TABLE "api_key" ADD CONSTRAINT "deleted_key_is_revoked" CHECK ("api_key"."deleted_at" is null or "api_key"."status" = 'revoked');