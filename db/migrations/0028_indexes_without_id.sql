DROP INDEX "call_record_by_key";--> statement-breakpoint
DROP INDEX "call_record_by_organization";--> statement-breakpoint
DROP INDEX "usage_by_key";--> statement-breakpoint
DROP INDEX "usage_by_organization";--> statement-breakpoint
CREATE INDEX "call_record_by_key" ON "call_record" USING btree ("key_id","at");--> statement-breakpoint
CREATE INDEX "call_record_by_organization" ON "call_record" USING btree ("organization_id","at");--> statement-breakpoint
CREATE INDEX "usage_by_key" ON "usage_line" USING btree ("key_id","at");--> statement-breakpoint
CREATE INDEX "usage_by_organization" ON "usage_line" USING btree ("organization_id","at");