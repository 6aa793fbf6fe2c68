import type { MutatedFile } from '../mutant.ts';

const RULES = 'test/actors/alerts/rules.test.ts';
const BUDGETS = 'test/actors/alerts/budgets.test.ts';
const ONCE = 'test/actors/alerts/once.test.ts';
const UNUSUAL = 'test/actors/alerts/unusual.test.ts';
const ENDPOINTS = 'test/http/alerts/endpoints.test.ts';

/** The causes of alerts, that each is found once, and who sees endpoints. */
export const ALERTS: readonly MutatedFile[] = [
  {
    path: 'db/alerts/caps.ts',
    tests: [RULES],
    mutants: [
      {
        name: 'a share counts only above it',
        from: 'used_nano_usd::numeric * 100 >= limit_nano_usd::numeric * share',
        to: 'used_nano_usd::numeric * 100 > limit_nano_usd::numeric * share',
      },
      {
        name: 'another cap is the same cause',
        from: "subject_id || ':' || limit_nano_usd || ':' || span`",
        to: "subject_id || ':' || span`",
      },
      {
        name: 'a cap that is reached gets a forecast',
        from: 'where used_nano_usd < limit_nano_usd and per_day',
        to: 'where per_day',
      },
    ],
  },
  {
    path: 'db/alerts/budget-caps.ts',
    tests: [BUDGETS],
    mutants: [
      {
        name: 'all windows of a budget are one cause',
        from: 'starts_on as span',
        to: "'' as span",
      },
      {
        name: 'refusals of an earlier window count',
        from: "call_record.at > weir_now() - interval '1 day'",
        to: "call_record.at > weir_now() - interval '100 days'",
      },
      {
        name: 'a budget of a key that is not active causes alerts',
        from: "key.status = 'active' and ",
        to: '',
      },
      {
        name: 'a forecast of the organization reads the spend of no key',
        from: "series.scope = 'total'",
        to: "series.scope = 'none'",
      },
    ],
  },
  {
    path: 'db/alerts/alerts.ts',
    tests: [RULES],
    mutants: [
      {
        name: 'an endpoint that is switched off gets alerts',
        from: "and enabled and deleted_at is null and owner_id <> ''",
        to: "and deleted_at is null and owner_id <> ''",
      },
      {
        name: 'a day has no bound',
        from: 'where place <= ',
        to: 'where 0 * place <= ',
      },
      {
        name: 'an alert goes to endpoints that do not receive its kind',
        from: ' = any(endpoint.kinds) and',
        to: ' <> all(array[]::text[]) and',
      },
    ],
  },
  {
    path: 'db/alerts/turns.ts',
    tests: [ONCE],
    mutants: [
      {
        name: 'a rule has no interval',
        from: ' and evaluated_at <= weir_now()',
        to: " and evaluated_at <= weir_now() + interval '1 year'",
      },
    ],
  },
  {
    path: 'db/alerts/down-channels.ts',
    tests: [RULES],
    mutants: [
      {
        name: 'a channel that flaps is down again and again',
        from: '= alert.subject_id and change.at > weir_now()',
        to: "= alert.subject_id and change.at > weir_now() + interval '1 day'",
      },
      {
        name: 'a short disturbance is an alert',
        from: 'where since <= weir_now() - ',
        to: 'where since <= weir_now() + 0 * ',
      },
    ],
  },
  {
    path: 'src/actors/alerts/unusual.ts',
    tests: [UNUSUAL],
    mutants: [
      {
        name: 'each day of a run is a new cause',
        from: 'if (isUnusual(spend, days_ago + 1, direction, factor)) return [];',
        to: '',
      },
    ],
  },
  {
    path: 'db/alerts/endpoints.ts',
    tests: [ENDPOINTS],
    mutants: [
      {
        name: 'P6: an endpoint of another organization is found',
        from: ' and owner_id = ',
        to: " and '' <> ",
      },
    ],
  },
];
