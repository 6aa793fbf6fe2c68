import { Type } from '@sinclair/typebox';
import {
  type FailedWebhooks,
  type FullKey,
  listFullKeys,
  MAX_FAILED,
  readFailedWebhooks,
  readSpendOfDays,
  type SpendOfDays,
} from '../../../db/notices.ts';
import { readBalance } from '../../../db/organizations.ts';
import { type Action, may } from '../../access/actions.ts';
import { validator } from '../../errors/validate.ts';
import { SharedReads } from '../../inference/records/shared-reads.ts';
import { usd } from '../../json/usd.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { admitManager } from './keys.ts';
import { readQuery } from './list-query.ts';
import type { UsageDeps } from './usage/lines.ts';

/** A key is near its cap from this share on. */
const NEAR_CAP = 0.8;
/** A balance is low if it lasts for fewer days at the recent spend. */
const LOW_DAYS = 3;
/** What is recent: spend, models that were called, and failed webhooks. */
const RECENT_DAYS = 7;

/** Something that needs a person. */
interface Notice {
  /** Names the cause. The same cause has the same id, and a new cause has another one. */
  readonly id: string;
  readonly kind: string;
  /** A problem stops calls or webhooks now; a warning will. */
  readonly severity: 'problem' | 'warning';
  readonly subject: { readonly kind: string; readonly id: string; readonly name: string };
  /** Since when, if that is known. */
  readonly since: string | null;
  readonly text: string;
  /** What to do. */
  readonly act: string;
  /** The page where to do it (docs/pages.md). */
  readonly page: string;
  readonly figures: Readonly<Record<string, number>>;
}

type Deps = UsageDeps & Pick<InferenceRouteDeps, 'inference'>;

/** `GET /v1/management/notices`, which takes no parameter. */
export const NoticesSchema = Type.Object({}, { additionalProperties: false });
const validate = validator(NoticesSchema);

/**
 * `GET /v1/management/notices`: what needs a person, problems first. It reads a few rows by indexes and the
 * sums of usage, never single lines. Requests of one organization at the same time share one read. A caller
 * gets the notices about what he may see.
 */
export function listNotices(deps: Deps): Handler {
  const reads = new SharedReads<readonly (readonly [Action, Notice])[]>();
  return async (context) => {
    const { organization_id, rights } = await admitManager(deps, context);
    readQuery(context.request, validate);
    const found = await reads.run(organization_id, () => findNotices(deps, organization_id));
    const data = found.filter(([action]) => may(rights, action)).map(([, notice]) => notice);
    const isProblem = ({ severity }: Notice) => severity === 'problem';
    return json({
      object: 'list',
      data: [...data.filter(isProblem), ...data.filter((notice) => !isProblem(notice))],
    });
  };
}

/** Returns all notices, each with the action of a caller who may see it. */
async function findNotices(
  deps: Deps,
  organization_id: string,
): Promise<(readonly [Action, Notice])[]> {
  const sql = deps.usage();
  const [keys, failed, spend, balance] = await Promise.all([
    listFullKeys(sql, organization_id, NEAR_CAP),
    readFailedWebhooks(sql, organization_id, RECENT_DAYS),
    readSpendOfDays(sql, organization_id, RECENT_DAYS),
    readBalance(deps.orm, organization_id),
  ]);
  const left = balance && { ...balance, nano_usd: balance.available + balance.held };
  const money = left ? ofBalance(organization_id, left, spend) : undefined;
  return [
    ...(money ? [['billing.read', money] as const] : []),
    ...downModels(deps, spend.models).map((notice) => ['usage.read', notice] as const),
    ...keys.map((key) => ['keys.read', ofKey(key)] as const),
    ...(failed ? [['tasks.read', ofWebhooks(failed)] as const] : []),
  ];
}

const dollars = (nano_usd: number) => `$${usd(nano_usd).toFixed(2)}`;

function ofBalance(
  organization_id: string,
  { nano_usd, deposited }: { readonly nano_usd: number; readonly deposited: number },
  spend: SpendOfDays,
): Notice | undefined {
  const per_day = spend.nano_usd / spend.days;
  const isOut = nano_usd <= 0;
  if (!isOut && nano_usd >= LOW_DAYS * per_day) return undefined;
  const days_left = isOut ? 0 : Math.floor((nano_usd / per_day) * 10) / 10;
  const kind = isOut ? 'balance_exhausted' : 'balance_low';
  return {
    // After a deposit, a low balance is a new cause.
    ...{ id: `${kind}:${deposited}`, kind, severity: isOut ? 'problem' : 'warning' },
    subject: { kind: 'organization', id: organization_id, name: 'balance' },
    since: null,
    text: isOut
      ? 'The balance is used up. Calls get 402 insufficient_balance.'
      : `The balance of ${dollars(nano_usd)} lasts for ${days_left} days at the spend of the last ${RECENT_DAYS} days.`,
    act: 'Ask the operator for a deposit.',
    page: 'billing',
    figures: { available: usd(nano_usd), spend_per_day: usd(Math.round(per_day)), days_left },
  };
}

function ofKey({ id, name, limit_nano_usd, used_nano_usd }: FullKey): Notice {
  const isFull = used_nano_usd >= limit_nano_usd;
  const kind = isFull ? 'key_at_cap' : 'key_near_cap';
  const share = Math.floor((used_nano_usd / limit_nano_usd) * 100);
  const of = `${dollars(used_nano_usd)} of ${dollars(limit_nano_usd)}`;
  return {
    // With another cap, it is a new cause.
    ...{ id: `${kind}:${id}:${limit_nano_usd}`, kind, severity: isFull ? 'problem' : 'warning' },
    subject: { kind: 'key', id, name },
    since: null,
    text: isFull
      ? `The key has used its cap: ${of}. Its calls get 402 quota_exceeded.`
      : `The key has used ${share} % of its cap: ${of}.`,
    act: 'Raise limitAmount of the key, or use another key.',
    page: 'api-keys',
    figures: { used_amount: usd(used_nano_usd), limit_amount: usd(limit_nano_usd) },
  };
}

function ofWebhooks({ count, latest_task_id, latest_url, first_at }: FailedWebhooks): Notice {
  const id = `msg_${latest_task_id}`;
  const { host } = new URL(latest_url);
  const number = count >= MAX_FAILED ? `At least ${MAX_FAILED}` : String(count);
  const webhooks = count === 1 ? 'webhook' : 'webhooks';
  return {
    // A later failure is a new cause.
    ...{ id: `webhooks_failed:${id}`, kind: 'webhooks_failed', severity: 'problem' },
    subject: { kind: 'delivery', id, name: host },
    since: first_at.toISOString(),
    text: `${number} ${webhooks} of the last ${RECENT_DAYS} days failed, the latest one to ${host}.`,
    act: 'Repair the receiver, then send the webhooks again.',
    page: 'tasks',
    figures: { failed: count },
  };
}

/**
 * Models that were called lately and have no healthy channel on this replica. Nothing names the channels
 * (P5).
 */
function downModels(deps: Deps, called: ReadonlySet<string>): Notice[] {
  const inference = deps.inference();
  const models = deps.catalogue().all();
  return models.flatMap(({ id }): Notice[] => {
    const since_ms = called.has(id) ? inference.downSince(id) : undefined;
    if (since_ms === undefined) return [];
    return [
      {
        ...{ id: `model_down:${id}`, kind: 'model_down', severity: 'problem' },
        subject: { kind: 'model', id, name: id },
        since: new Date(since_ms).toISOString(),
        text: `No healthy channel serves ${id} now. Its calls may fail.`,
        act: 'Use another model until Weir finds a healthy channel, or tell the operator.',
        page: 'models',
        figures: {},
      },
    ];
  });
}
