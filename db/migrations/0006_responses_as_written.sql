ALTER TABLE "stored_response" ALTER COLUMN "body" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "stored_response" ALTER COLUMN "input" SET DATA TYPE json;