import type { Fragment, TransactionSql } from 'postgres';
import { type AlertCause, freshCauses, hasOperatorEndpoint } from '../../../db/alerts/alerts.ts';
import { lowBalances } from '../../../db/alerts/balances.ts';
import { forecastCaps, usedCaps } from '../../../db/alerts/caps.ts';
import { changedPrices, changedPricesOfAll } from '../../../db/alerts/changed-prices.ts';
import { type DailySpend, readDailySpend } from '../../../db/alerts/daily-spend.ts';
import { downChannels, endDownChannels } from '../../../db/alerts/down-channels.ts';
import type { AlertKind } from '../../../db/alerts/kinds.ts';
import { reachedSoftLimits } from '../../../db/alerts/soft-limits.ts';
import { unusedKeys } from '../../../db/alerts/unused-keys.ts';
import { SPEND_DAYS, unusualSpend } from './unusual.ts';

/** Finds the causes of one kind of alerts. */
export interface Rule {
  readonly name: string;
  readonly kind: AlertKind;
  /** How many intervals pass between two evaluations. What changes slowly is read rarely. */
  readonly every: number;
  /** Returns the causes that have no alert yet. */
  readonly find: (tx: TransactionSql) => Promise<readonly AlertCause[]>;
}

const OFTEN = 1;
const RARELY = 10;
const PAGE = 500;
const DAY_MS = 86_400_000;

/** A rule that is one query. */
const query = (
  kind: AlertKind,
  every: number,
  candidates: (tx: TransactionSql) => Fragment,
): Rule => ({
  ...{ name: kind, kind, every },
  find: (tx) => freshCauses(tx, kind, candidates(tx)),
});

/** All rules. They read key rows and sums of usage. Only the one of soft limits reads calls. */
export const RULES: readonly Rule[] = [
  query('cap_used', OFTEN, (tx) => usedCaps(tx, 'cap')),
  query('budget_used', OFTEN, (tx) => usedCaps(tx, 'budget')),
  query('soft_limit_reached', OFTEN, reachedSoftLimits),
  query('low_balance', OFTEN, lowBalances),
  query('cap_forecast', RARELY, (tx) => forecastCaps(tx, 'cap')),
  query('budget_forecast', RARELY, (tx) => forecastCaps(tx, 'budget')),
  query('key_unused', RARELY, unusedKeys),
  query('price_changed', OFTEN, changedPrices),
  { name: 'unusual_spend', kind: 'unusual_spend', every: RARELY, find: findUnusualSpend },
  {
    ...{ name: 'price_changed_of_all', kind: 'price_changed', every: OFTEN },
    async find(tx) {
      const since = await hasOperatorEndpoint(tx, 'price_changed');
      return since ? freshCauses(tx, 'price_changed', changedPricesOfAll(tx, since)) : [];
    },
  },
  {
    ...{ name: 'channel_down', kind: 'channel_down', every: OFTEN },
    async find(tx) {
      await endDownChannels(tx);
      const since = await hasOperatorEndpoint(tx, 'channel_down');
      return since ? freshCauses(tx, 'channel_down', downChannels(tx)) : [];
    },
  },
];

async function findUnusualSpend(tx: TransactionSql): Promise<readonly AlertCause[]> {
  const found: AlertCause[] = [];
  for (let after = ''; ; ) {
    const page = await readDailySpend(tx, SPEND_DAYS, after, PAGE);
    found.push(...page.flatMap(unusualCauses));
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last.owner_id;
  }
  if (found.length === 0) return [];
  const rows = JSON.stringify(found);
  return freshCauses(
    tx,
    'unusual_spend',
    tx`select * from jsonb_to_recordset(${rows}::text::jsonb) as input(owner_id text, cause text,
      subject_kind text, subject_id text, subject_name text, figures jsonb)`,
  );
}

/** The causes of one organization. */
function unusualCauses({ owner_id, name, factor, today, spend }: DailySpend): AlertCause[] {
  return unusualSpend(spend, factor).map(({ direction, days_ago, nano_usd, usual_nano_usd }) => {
    const day = new Date((today - days_ago) * DAY_MS).toISOString().slice(0, 10);
    return {
      ...{ owner_id, cause: `unusual_spend:${direction}:${day}` },
      ...{ subject_kind: 'organization', subject_id: owner_id, subject_name: name },
      figures: { direction, day, nano_usd, usual_nano_usd },
    };
  });
}
