ALTER TABLE "api_key" ADD COLUMN "timeout_ms" integer;--> statement-breakpoint
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_timeout_in_bounds" CHECK ("api_key"."timeout_ms" between 1000 and 3600000);