ALTER TABLE "budget" DROP CONSTRAINT "one_budget_per_scope_and_period";--> statement-breakpoint
ALTER TABLE "budget" ADD COLUMN "tag_name" text;--> statement-breakpoint
ALTER TABLE "budget" ADD COLUMN "tag_value" text;--> statement-breakpoint
ALTER TABLE "hold" ADD COLUMN "tags" jsonb;--> statement-breakpoint
ALTER TABLE "quota_grant" ADD COLUMN "tags" jsonb;--> statement-breakpoint
ALTER TABLE "budget" ADD CONSTRAINT "one_budget_per_scope_and_period" UNIQUE NULLS NOT DISTINCT("organization_id","key_id","tag_name","tag_value","period");--> statement-breakpoint
ALTER TABLE "budget" ADD CONSTRAINT "budget_has_one_scope" CHECK (("budget"."tag_name" is null) = ("budget"."tag_value" is null) and ("budget"."tag_name" is null or "budget"."key_id" is null));