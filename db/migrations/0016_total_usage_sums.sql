-- The sums now also have one series for all calls of an organization, so all rows are summed again.
TRUNCATE "usage_series", "usage_quarter", "usage_day", "usage_payer";
--> statement-breakpoint
UPDATE "usage_fold" SET "next_xid" = 0, "open_xids" = '{}', "is_ready" = false, "table_name" = 'usage_line',
  "organization_id" = '', "at" = '-infinity', "row_id" = '00000000-0000-0000-0000-000000000000';
