ALTER TABLE "closed_charge" ADD COLUMN "uncharged_nano_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "cap_counts" text DEFAULT 'charged' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_key" ADD COLUMN "uncharged_nano_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "quota_grant" ADD COLUMN "uncharged_nano_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "quota_grant" ADD COLUMN "uncharged_posted_nano_usd" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_line" ADD COLUMN "counted_nano_usd" bigint;--> statement-breakpoint
ALTER TABLE "task" ADD COLUMN "counts_list" boolean DEFAULT false NOT NULL;