ALTER TABLE "budget" ADD COLUMN "when_reached" text DEFAULT 'refuse' NOT NULL;--> statement-breakpoint
ALTER TABLE "budget" ADD COLUMN "move_to" text;--> statement-breakpoint
ALTER TABLE "budget" ADD CONSTRAINT "budget_names_a_model_to_move_to" CHECK (("budget"."when_reached" = 'move') = ("budget"."move_to" is not null));