CREATE TABLE "membership" (
	"organization_id" text NOT NULL,
	"person_id" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "membership_organization_id_person_id_pk" PRIMARY KEY("organization_id","person_id")
);
--> statement-breakpoint
CREATE TABLE "one_time_link" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"secret_hash" text NOT NULL,
	"email" text,
	"is_mailed" boolean NOT NULL,
	"organization_id" text,
	"role" text,
	"person_id" text,
	"created_by" text,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "invitation_has_an_organization_and_a_role" CHECK (("one_time_link"."kind" = 'invitation') = ("one_time_link"."organization_id" is not null)
        and ("one_time_link"."kind" = 'invitation') = ("one_time_link"."role" is not null)),
	CONSTRAINT "password_link_has_a_person" CHECK (("one_time_link"."kind" = 'password') = ("one_time_link"."person_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "operator_person" (
	"person_id" text PRIMARY KEY NOT NULL,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "person" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	CONSTRAINT "person_email_is_in_lower_case" CHECK ("person"."email" = lower("person"."email"))
);
--> statement-breakpoint
CREATE TABLE "person_account" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"person_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp with time zone,
	"refresh_token_expires_at" timestamp with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT weir_now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "person_session" (
	"id" text PRIMARY KEY NOT NULL,
	"token" text NOT NULL,
	"person_id" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT weir_now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_attempt" (
	"subject" text PRIMARY KEY NOT NULL,
	"count" integer NOT NULL,
	"ends_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_state" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT weir_now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT weir_now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "membership" ADD CONSTRAINT "membership_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "membership" ADD CONSTRAINT "membership_person_id_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."person"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "one_time_link" ADD CONSTRAINT "one_time_link_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "one_time_link" ADD CONSTRAINT "one_time_link_person_id_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."person"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "operator_person" ADD CONSTRAINT "operator_person_person_id_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."person"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "person_account" ADD CONSTRAINT "person_account_person_id_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."person"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "person_session" ADD CONSTRAINT "person_session_person_id_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."person"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "membership_by_person" ON "membership" USING btree ("person_id");--> statement-breakpoint
CREATE UNIQUE INDEX "one_time_link_by_secret" ON "one_time_link" USING btree ("secret_hash");--> statement-breakpoint
CREATE INDEX "one_time_link_by_organization" ON "one_time_link" USING btree ("organization_id","created_at","id");--> statement-breakpoint
CREATE INDEX "one_time_link_by_email" ON "one_time_link" USING btree ("email");--> statement-breakpoint
CREATE INDEX "one_time_link_by_end" ON "one_time_link" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "person_by_email" ON "person" USING btree ("email");--> statement-breakpoint
CREATE UNIQUE INDEX "person_account_by_provider" ON "person_account" USING btree ("provider_id","account_id");--> statement-breakpoint
CREATE INDEX "person_account_by_person" ON "person_account" USING btree ("person_id");--> statement-breakpoint
CREATE UNIQUE INDEX "person_session_by_token" ON "person_session" USING btree ("token");--> statement-breakpoint
CREATE INDEX "person_session_by_person" ON "person_session" USING btree ("person_id");--> statement-breakpoint
CREATE INDEX "person_session_by_end" ON "person_session" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sign_in_attempt_by_end" ON "sign_in_attempt" USING btree ("ends_at");--> statement-breakpoint
CREATE INDEX "sign_in_state_by_identifier" ON "sign_in_state" USING btree ("identifier");--> statement-breakpoint
CREATE INDEX "sign_in_state_by_end" ON "sign_in_state" USING btree ("expires_at");