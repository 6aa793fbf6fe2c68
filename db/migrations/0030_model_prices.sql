CREATE TABLE "model_price" (
	"model" text NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL,
	"family" text NOT NULL,
	"price" jsonb NOT NULL,
	"provenance" jsonb,
	CONSTRAINT "model_price_model_since_pk" PRIMARY KEY("model","since")
);
