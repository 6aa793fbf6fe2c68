CREATE TABLE "configuration_change" (
	"seq" bigint PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"id" text NOT NULL,
	"before" jsonb,
	"after" jsonb,
	"takes_back" bigint,
	"at" timestamp with time zone DEFAULT weir_now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "configured_item" (
	"kind" text NOT NULL,
	"id" text NOT NULL,
	"value" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"changed_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "configured_item_kind_id_pk" PRIMARY KEY("kind","id"),
	CONSTRAINT "configured_item_kind" CHECK ("configured_item"."kind" in ('model', 'price', 'routing', 'preset'))
);
--> statement-breakpoint
CREATE INDEX "configuration_change_by_object" ON "configuration_change" USING btree ("kind","id","seq");--> statement-breakpoint
CREATE INDEX "configuration_change_by_time" ON "configuration_change" USING btree ("at");