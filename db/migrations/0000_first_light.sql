CREATE SEQUENCE "public"."recall_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "access_token" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"organization_id" text,
	"token_hash" text NOT NULL,
	"token_prefix" text NOT NULL,
	"revoked_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "management_token_has_an_organization" CHECK (("access_token"."kind" = 'management') = ("access_token"."organization_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "actor" (
	"kind" text NOT NULL,
	"id" text NOT NULL,
	"machine_version" integer NOT NULL,
	"snapshot" jsonb NOT NULL,
	"seq" integer DEFAULT 0 NOT NULL,
	"live" boolean DEFAULT true NOT NULL,
	"owner" text,
	"epoch" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "actor_kind_id_pk" PRIMARY KEY("kind","id")
);
--> statement-breakpoint
CREATE TABLE "actor_event" (
	"kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"seq" integer NOT NULL,
	"command_id" uuid NOT NULL,
	"event" jsonb NOT NULL,
	"from_state" text NOT NULL,
	"to_state" text NOT NULL,
	"taken" boolean NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "actor_event_kind_actor_id_seq_pk" PRIMARY KEY("kind","actor_id","seq")
);
--> statement-breakpoint
CREATE TABLE "api_key" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"name" text NOT NULL,
	"key_hash" text NOT NULL,
	"key_prefix" text NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"limit_nano_usd" bigint,
	"ceiling_nano_usd" bigint,
	"used_nano_usd" bigint DEFAULT 0 NOT NULL,
	"held_nano_usd" bigint DEFAULT 0 NOT NULL,
	"models" text[] DEFAULT '{}' NOT NULL,
	"requests_per_minute" integer,
	"expires_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "api_key_used_never_negative" CHECK ("api_key"."used_nano_usd" >= 0),
	CONSTRAINT "api_key_held_never_negative" CHECK ("api_key"."held_nano_usd" >= 0),
	CONSTRAINT "api_key_never_over_its_cap" CHECK ("api_key"."used_nano_usd" + "api_key"."held_nano_usd" <= "api_key"."ceiling_nano_usd")
);
--> statement-breakpoint
CREATE TABLE "deposit" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"amount_nano_usd" bigint NOT NULL,
	"note" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "deposit_is_positive" CHECK ("deposit"."amount_nano_usd" > 0)
);
--> statement-breakpoint
CREATE TABLE "hold" (
	"id" uuid PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"status" text DEFAULT 'held' NOT NULL,
	"amount_nano_usd" bigint NOT NULL,
	"charged_nano_usd" bigint DEFAULT 0 NOT NULL,
	"reference" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"resolved_at" timestamp with time zone,
	CONSTRAINT "hold_is_positive" CHECK ("hold"."amount_nano_usd" >= 0),
	CONSTRAINT "hold_charges_only_what_it_held" CHECK ("hold"."charged_nano_usd" between 0 and "hold"."amount_nano_usd"),
	CONSTRAINT "only_a_settled_hold_charges" CHECK ("hold"."status" = 'settled' or "hold"."charged_nano_usd" = 0)
);
--> statement-breakpoint
CREATE TABLE "organization" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"role" text DEFAULT 'standard' NOT NULL,
	"deposited_nano_usd" bigint DEFAULT 0 NOT NULL,
	"balance_nano_usd" bigint DEFAULT 0 NOT NULL,
	"held_nano_usd" bigint DEFAULT 0 NOT NULL,
	"settled_nano_usd" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "organization_balance_never_negative" CHECK ("organization"."balance_nano_usd" >= 0),
	CONSTRAINT "organization_held_never_negative" CHECK ("organization"."held_nano_usd" >= 0),
	CONSTRAINT "organization_money_is_conserved" CHECK ("organization"."deposited_nano_usd" = "organization"."balance_nano_usd" + "organization"."held_nano_usd" + "organization"."settled_nano_usd")
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"seq" integer NOT NULL,
	"effect" text NOT NULL,
	"params" jsonb NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "quota_grant" (
	"id" uuid PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"replica_id" text NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"granted_nano_usd" bigint DEFAULT 0 NOT NULL,
	"settled_nano_usd" bigint DEFAULT 0 NOT NULL,
	"posted_nano_usd" bigint DEFAULT 0 NOT NULL,
	"recall_acked" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"closed_at" timestamp with time zone,
	CONSTRAINT "grant_posted_never_negative" CHECK ("quota_grant"."posted_nano_usd" >= 0),
	CONSTRAINT "grant_posts_only_what_it_settled" CHECK ("quota_grant"."posted_nano_usd" <= "quota_grant"."settled_nano_usd"),
	CONSTRAINT "grant_settles_only_what_was_granted" CHECK ("quota_grant"."settled_nano_usd" <= "quota_grant"."granted_nano_usd"),
	CONSTRAINT "closed_grant_holds_nothing" CHECK ("quota_grant"."status" = 'open' or ("quota_grant"."granted_nano_usd" = "quota_grant"."settled_nano_usd" and "quota_grant"."settled_nano_usd" = "quota_grant"."posted_nano_usd"))
);
--> statement-breakpoint
CREATE TABLE "replica" (
	"id" text PRIMARY KEY NOT NULL,
	"status" text DEFAULT 'alive' NOT NULL,
	"lease_until" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "timer" (
	"kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"name" text NOT NULL,
	"generation" integer DEFAULT 1 NOT NULL,
	"fire_at" timestamp with time zone NOT NULL,
	"event" jsonb NOT NULL,
	CONSTRAINT "timer_kind_actor_id_name_pk" PRIMARY KEY("kind","actor_id","name")
);
--> statement-breakpoint
CREATE TABLE "usage_line" (
	"id" uuid PRIMARY KEY NOT NULL,
	"request_id" uuid NOT NULL,
	"organization_id" text NOT NULL,
	"key_id" text NOT NULL,
	"grant_id" uuid,
	"hold_id" uuid,
	"scene" text NOT NULL,
	"access_channel" text NOT NULL,
	"model" text NOT NULL,
	"model_vendor" text NOT NULL,
	"channel_id" text NOT NULL,
	"outcome" text NOT NULL,
	"input_tokens" integer NOT NULL,
	"cached_input_tokens" integer NOT NULL,
	"cache_write_tokens" integer NOT NULL,
	"output_tokens" integer NOT NULL,
	"estimated" boolean NOT NULL,
	"charged_nano_usd" bigint NOT NULL,
	"overrun_nano_usd" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "charge_never_negative" CHECK ("usage_line"."charged_nano_usd" >= 0),
	CONSTRAINT "overrun_never_negative" CHECK ("usage_line"."overrun_nano_usd" >= 0),
	CONSTRAINT "usage_is_paid_from_one_place" CHECK (("usage_line"."grant_id" is null) <> ("usage_line"."hold_id" is null))
);
--> statement-breakpoint
ALTER TABLE "access_token" ADD CONSTRAINT "access_token_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deposit" ADD CONSTRAINT "deposit_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hold" ADD CONSTRAINT "hold_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_key"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hold" ADD CONSTRAINT "hold_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "quota_grant" ADD CONSTRAINT "quota_grant_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_key"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "quota_grant" ADD CONSTRAINT "quota_grant_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "quota_grant" ADD CONSTRAINT "quota_grant_replica_id_replica_id_fk" FOREIGN KEY ("replica_id") REFERENCES "public"."replica"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_by_hash" ON "access_token" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "live_actors_by_owner" ON "actor" USING btree ("owner") WHERE live;--> statement-breakpoint
CREATE UNIQUE INDEX "actor_event_by_command" ON "actor_event" USING btree ("command_id");--> statement-breakpoint
CREATE UNIQUE INDEX "api_key_by_hash" ON "api_key" USING btree ("key_hash");--> statement-breakpoint
CREATE INDEX "api_key_by_organization" ON "api_key" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE INDEX "deposit_by_organization" ON "deposit" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE INDEX "open_holds_by_expiry" ON "hold" USING btree ("expires_at") WHERE status = 'held';--> statement-breakpoint
CREATE INDEX "open_holds_of_key" ON "hold" USING btree ("key_id") WHERE status = 'held';--> statement-breakpoint
CREATE INDEX "pending_outbox" ON "outbox" USING btree ("next_attempt_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "outbox_of_actor" ON "outbox" USING btree ("kind","actor_id");--> statement-breakpoint
CREATE UNIQUE INDEX "one_open_grant_per_key_and_replica" ON "quota_grant" USING btree ("key_id","replica_id") WHERE status = 'open';--> statement-breakpoint
CREATE INDEX "open_grants_of_replica" ON "quota_grant" USING btree ("replica_id") WHERE status = 'open';--> statement-breakpoint
CREATE INDEX "replica_by_lease" ON "replica" USING btree ("status","lease_until");--> statement-breakpoint
CREATE INDEX "timer_by_fire_at" ON "timer" USING btree ("fire_at");--> statement-breakpoint
CREATE INDEX "usage_by_key" ON "usage_line" USING btree ("key_id","created_at");