CREATE TABLE "provider_bill" (
	"channel_id" text NOT NULL,
	"source" text NOT NULL,
	"day" date NOT NULL,
	"model" text NOT NULL,
	"amount_nano_usd" bigint,
	"input_tokens" bigint,
	"output_tokens" bigint,
	"requests" bigint,
	"imported_at" timestamp with time zone NOT NULL,
	CONSTRAINT "provider_bill_channel_id_source_day_model_pk" PRIMARY KEY("channel_id","source","day","model")
);
