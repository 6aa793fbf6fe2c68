-- Each kind of sums gets tables of its own. The tables with most rows are renamed, so that fewer rows are
-- written. Rows past retention are gone, so nothing can be summed again.
ALTER TABLE "usage_quarter" RENAME TO "usage_key_quarter";--> statement-breakpoint
ALTER TABLE "usage_key_quarter" RENAME CONSTRAINT "usage_quarter_series_id_quarter_pk" TO "usage_key_quarter_series_id_quarter_pk";--> statement-breakpoint
CREATE TABLE "usage_quarter" (LIKE "usage_key_quarter", CONSTRAINT "usage_quarter_series_id_quarter_pk" PRIMARY KEY("series_id","quarter"));--> statement-breakpoint
CREATE TABLE "usage_name_quarter" (LIKE "usage_key_quarter", CONSTRAINT "usage_name_quarter_series_id_quarter_pk" PRIMARY KEY("series_id","quarter"));--> statement-breakpoint
ALTER TABLE "usage_day" RENAME TO "usage_key_name_day";--> statement-breakpoint
ALTER TABLE "usage_key_name_day" RENAME CONSTRAINT "usage_day_series_id_day_pk" TO "usage_key_name_day_series_id_day_pk";--> statement-breakpoint
CREATE TABLE "usage_day" (LIKE "usage_key_name_day", CONSTRAINT "usage_day_series_id_day_pk" PRIMARY KEY("series_id","day"));--> statement-breakpoint
CREATE TABLE "usage_name_day" (LIKE "usage_key_name_day", CONSTRAINT "usage_name_day_series_id_day_pk" PRIMARY KEY("series_id","day"));--> statement-breakpoint
CREATE TABLE "usage_key_day" (LIKE "usage_day", CONSTRAINT "usage_key_day_series_id_day_pk" PRIMARY KEY("series_id","day"));--> statement-breakpoint
WITH moved AS (
  DELETE FROM "usage_key_quarter" USING "usage_series" WHERE id = series_id AND scope = 'organization' RETURNING "usage_key_quarter".*
)
INSERT INTO "usage_name_quarter" SELECT * FROM moved;--> statement-breakpoint
WITH moved AS (
  DELETE FROM "usage_key_quarter" USING "usage_series" WHERE id = series_id AND scope = 'total' RETURNING "usage_key_quarter".*
)
INSERT INTO "usage_quarter" SELECT * FROM moved;--> statement-breakpoint
WITH moved AS (
  DELETE FROM "usage_key_name_day" USING "usage_series" WHERE id = series_id AND scope = 'key_total' RETURNING "usage_key_name_day".*
)
INSERT INTO "usage_key_day" SELECT * FROM moved;--> statement-breakpoint
WITH moved AS (
  DELETE FROM "usage_key_name_day" USING "usage_series" WHERE id = series_id AND scope = 'organization' RETURNING "usage_key_name_day".*
)
INSERT INTO "usage_name_day" SELECT * FROM moved;--> statement-breakpoint
WITH moved AS (
  DELETE FROM "usage_key_name_day" USING "usage_series" WHERE id = series_id AND scope = 'total' RETURNING "usage_key_name_day".*
)
INSERT INTO "usage_day" SELECT * FROM moved;--> statement-breakpoint
ALTER TABLE "usage_key_name_day" ADD COLUMN "owner_id" integer;--> statement-breakpoint
UPDATE "usage_key_name_day" SET owner_id = owner.id FROM "usage_series" AS series, "usage_series" AS owner
WHERE series.id = series_id AND owner.organization_id = series.organization_id AND owner.scope = 'total';--> statement-breakpoint
ALTER TABLE "usage_key_name_day" ALTER COLUMN "owner_id" SET NOT NULL;--> statement-breakpoint
CREATE INDEX "usage_key_name_day_by_owner" ON "usage_key_name_day" USING btree ("owner_id","day");--> statement-breakpoint
-- Sums by few names, from the sums by all names.
INSERT INTO "usage_series" (organization_id, scope, key_id, scene, model, model_vendor, access_channel, protocol, outcome)
SELECT DISTINCT organization_id, 'by_model', '', scene, model, model_vendor, access_channel, '', '' FROM "usage_series"
WHERE scope = 'organization'
ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO "usage_series" (organization_id, scope, key_id, scene, model, model_vendor, access_channel, protocol, outcome)
SELECT DISTINCT organization_id, 'by_protocol', '', '', '', '', '', protocol, '' FROM "usage_series"
WHERE scope = 'organization'
ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO "usage_series" (organization_id, scope, key_id, scene, model, model_vendor, access_channel, protocol, outcome)
SELECT DISTINCT organization_id, 'by_outcome', '', '', '', '', '', '', outcome FROM "usage_series"
WHERE scope = 'organization'
ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO "usage_quarter" (series_id, quarter,
  requests, charges, succeeded, charged_nano_usd, list_nano_usd, input_tokens, cached_input_tokens,
  cache_write_tokens, output_tokens, reasoning_tokens, audio_tokens, duration_ms, durations, first_token_ms,
  first_tokens, took_0, took_1, took_2, took_3, took_4, took_5, took_6, took_7, took_8, took_9, took_10, took_11,
  took_12, took_13, took_14, took_15, took_16, took_17, took_18, took_19, took_20, took_21, took_22, took_23,
  took_24, took_25, took_26, took_27, took_28, took_29, took_30, took_31)
SELECT few.id, quarter,
  sum(requests), sum(charges), sum(succeeded), sum(charged_nano_usd), sum(list_nano_usd), sum(input_tokens),
  sum(cached_input_tokens), sum(cache_write_tokens), sum(output_tokens), sum(reasoning_tokens), sum(audio_tokens),
  sum(duration_ms), sum(durations), sum(first_token_ms), sum(first_tokens), sum(took_0), sum(took_1), sum(took_2),
  sum(took_3), sum(took_4), sum(took_5), sum(took_6), sum(took_7), sum(took_8), sum(took_9), sum(took_10),
  sum(took_11), sum(took_12), sum(took_13), sum(took_14), sum(took_15), sum(took_16), sum(took_17), sum(took_18),
  sum(took_19), sum(took_20), sum(took_21), sum(took_22), sum(took_23), sum(took_24), sum(took_25), sum(took_26),
  sum(took_27), sum(took_28), sum(took_29), sum(took_30), sum(took_31)
FROM "usage_name_quarter" JOIN "usage_series" AS series ON series.id = series_id
JOIN "usage_series" AS few ON few.organization_id = series.organization_id
  AND few.scope IN ('by_model', 'by_protocol', 'by_outcome')
  AND (few.scope <> 'by_model' OR (few.scene, few.model, few.model_vendor, few.access_channel)
    = (series.scene, series.model, series.model_vendor, series.access_channel))
  AND (few.scope <> 'by_protocol' OR few.protocol = series.protocol)
  AND (few.scope <> 'by_outcome' OR few.outcome = series.outcome)
GROUP BY 1, 2;--> statement-breakpoint
INSERT INTO "usage_day" (series_id, day,
  requests, charges, succeeded, charged_nano_usd, list_nano_usd, input_tokens, cached_input_tokens,
  cache_write_tokens, output_tokens, reasoning_tokens, audio_tokens, duration_ms, durations, first_token_ms,
  first_tokens, took_0, took_1, took_2, took_3, took_4, took_5, took_6, took_7, took_8, took_9, took_10, took_11,
  took_12, took_13, took_14, took_15, took_16, took_17, took_18, took_19, took_20, took_21, took_22, took_23,
  took_24, took_25, took_26, took_27, took_28, took_29, took_30, took_31)
SELECT few.id, day,
  sum(requests), sum(charges), sum(succeeded), sum(charged_nano_usd), sum(list_nano_usd), sum(input_tokens),
  sum(cached_input_tokens), sum(cache_write_tokens), sum(output_tokens), sum(reasoning_tokens), sum(audio_tokens),
  sum(duration_ms), sum(durations), sum(first_token_ms), sum(first_tokens), sum(took_0), sum(took_1), sum(took_2),
  sum(took_3), sum(took_4), sum(took_5), sum(took_6), sum(took_7), sum(took_8), sum(took_9), sum(took_10),
  sum(took_11), sum(took_12), sum(took_13), sum(took_14), sum(took_15), sum(took_16), sum(took_17), sum(took_18),
  sum(took_19), sum(took_20), sum(took_21), sum(took_22), sum(took_23), sum(took_24), sum(took_25), sum(took_26),
  sum(took_27), sum(took_28), sum(took_29), sum(took_30), sum(took_31)
FROM "usage_name_day" JOIN "usage_series" AS series ON series.id = series_id
JOIN "usage_series" AS few ON few.organization_id = series.organization_id
  AND few.scope IN ('by_model', 'by_protocol', 'by_outcome')
  AND (few.scope <> 'by_model' OR (few.scene, few.model, few.model_vendor, few.access_channel)
    = (series.scene, series.model, series.model_vendor, series.access_channel))
  AND (few.scope <> 'by_protocol' OR few.protocol = series.protocol)
  AND (few.scope <> 'by_outcome' OR few.outcome = series.outcome)
GROUP BY 1, 2;
