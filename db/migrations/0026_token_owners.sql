ALTER TABLE "access_token" ADD COLUMN "replaces" text;--> statement-breakpoint
CREATE INDEX "access_token_by_organization" ON "access_token" USING btree ("organization_id","created_at","id");