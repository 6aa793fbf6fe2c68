CREATE TABLE "saved_view" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"person_id" text,
	"name" text NOT NULL,
	"page" text NOT NULL,
	"query" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "saved_view_is_bounded" CHECK (length(query) <= 4000 and length(name) <= 200)
);
--> statement-breakpoint
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_of_a_member" FOREIGN KEY ("organization_id","person_id") REFERENCES "public"."membership"("organization_id","person_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "saved_view_by_owner" ON "saved_view" USING btree ("organization_id","person_id");