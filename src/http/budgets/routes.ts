import { appendAudit } from '../../../db/audit/log.ts';
import {
  countBudgets,
  deleteBudget,
  findBudget,
  hasKey,
  insertBudget,
  listBudgets,
  lockMoneyOf,
  type ShownBudget,
  updateBudgetLimit,
} from '../../../db/budgets/rows.ts';
import { tagOf } from '../../../db/budgets/tags.ts';
import type { Sql, TransactionSql } from '../../../db/client.ts';
import { nextRecall } from '../../../db/ledger/replicas.ts';
import { newId } from '../../../db/secrets.ts';
import type { Manager } from '../../access/manager.ts';
import { type MoneyHintPublisher, MoneyHints } from '../../actors/money/money-hints.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { changeOnce } from '../management/change-once.ts';
import { admitManager, type ManagementDeps } from '../management/keys.ts';
import type { PathMethods } from '../route.ts';
import { storedTags } from '../tags-schema.ts';
import { auditedBudget, budgetRecord, budgetSettings } from './record.ts';
import { budgetLimitOf, CreateBudgetSchema, UpdateBudgetSchema } from './schema.ts';

/** The most budgets of an organization. */
const MAX_BUDGETS = 1_000;

/** Dependencies of the routes of budgets. */
export interface BudgetRouteDeps extends ManagementDeps {
  /** Sends messages to the quota actors of all replicas. Missing if this process has none. */
  readonly organizationNews?: { readonly money: MoneyHintPublisher };
  /** Missing if this process runs no calls. */
  readonly budgetedTags?: {
    /** Resolves when this replica has applied the committed tags of the organization. */
    apply(organization_id: string): Promise<void>;
    /** Notifies all replicas of changed tags. Must not throw. */
    announce(organization_id: string): void;
  };
}

const validateCreate = validator(CreateBudgetSchema);
const validateUpdate = validator(UpdateBudgetSchema);
const answerOf = (budget: ShownBudget) =>
  withEtag(json(budgetRecord(budget)), budgetSettings(budget));

/** A change in its transaction: what it changed, and the messages that follow the commit. */
interface Change {
  readonly tx: TransactionSql;
  readonly manager: Manager;
  readonly hints: MoneyHints;
}

/**
 * The routes with which an organization limits what it spends in a day, a week or a month. A change applies to
 * all money that is set aside after it. Money that replicas have set aside and do not use is recalled.
 */
class BudgetRoutes {
  constructor(private readonly deps: BudgetRouteDeps) {}

  /** `GET /v1/management/budgets` */
  readonly list: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    const budgets = await listBudgets(this.deps.sql, organization_id);
    return json({ object: 'list', data: budgets.map(budgetRecord) });
  };

  /** `GET /v1/management/budgets/{id}` */
  readonly get: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    return answerOf(await requireBudget(this.deps.sql, context, organization_id));
  };

  /** `POST /v1/management/budgets` */
  readonly create: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { value, text } = await this.read(context, manager);
    const { api_key_id: key_id = null, tag, period, limit_amount } = validateCreate(value);
    if (key_id !== null && tag) throw twoScopes();
    const { organization_id } = manager;
    const scope = { organization_id, key_id, ...tagColumns(tag) };
    return this.change(context, manager, 'create', text, async ({ tx, hints }) => {
      if ((await countBudgets(tx, organization_id)) >= MAX_BUDGETS) throw tooManyBudgets();
      if (key_id !== null && !(await hasKey(tx, organization_id, key_id))) throw keyNotFound();
      const id = newId('budget');
      const limit_nano_usd = budgetLimitOf(limit_amount);
      const isNew = await insertBudget(tx, { id, ...scope, period, limit_nano_usd });
      if (!isNew) throw existsAlready(period);
      const budget = await requireBudget(tx, context, organization_id, id);
      await recall(tx, hints, budget);
      await audit(tx, manager, 'create', { before: null, after: auditedBudget(budget) }, id);
      return answerOf(budget);
    });
  };

  /** `PATCH /v1/management/budgets/{id}` */
  readonly update: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { value, text } = await this.read(context, manager);
    const { limit_amount } = validateUpdate(value);
    const { organization_id } = manager;
    return this.change(context, manager, 'update', text, async ({ tx, hints }) => {
      const before = await requireBudget(tx, context, organization_id);
      requireMatch(context.request, budgetSettings(before));
      await updateBudgetLimit(tx, before.id, budgetLimitOf(limit_amount));
      const after = await requireBudget(tx, context, organization_id);
      if (after.limit_nano_usd < before.limit_nano_usd) await recall(tx, hints, after);
      hints.onMoneyFreed(organization_id);
      const members = changedMembers(auditedBudget(before), auditedBudget(after));
      if (members) await audit(tx, manager, 'update', members, before.id);
      return answerOf(after);
    });
  };

  /** `DELETE /v1/management/budgets/{id}` */
  readonly delete: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { organization_id } = manager;
    return this.change(context, manager, 'delete', '', async ({ tx, hints }) => {
      const budget = await requireBudget(tx, context, organization_id);
      requireMatch(context.request, budgetSettings(budget));
      await deleteBudget(tx, organization_id, budget.id);
      hints.onMoneyFreed(organization_id);
      const members = { before: auditedBudget(budget), after: null };
      await audit(tx, manager, 'delete', members, budget.id);
      return json({ object: 'budget.deleted', id: budget.id, deleted: true });
    });
  };

  /** Applies changed tags here before the answer; the announcement reaches the other replicas. */
  private async applyTags(organization_id: string, verb: string): Promise<void> {
    const { budgetedTags } = this.deps;
    if (verb === 'update') return;
    budgetedTags?.announce(organization_id);
    await budgetedTags?.apply(organization_id).catch(() => undefined);
  }

  private read({ request, bytes }: RequestContext, { organization_id }: Manager) {
    return readJsonObject(request, bytes.of(organization_id), MAX_MANAGEMENT_BODY_BYTES);
  }

  /** Makes a change while no ledger command moves money of the organization. */
  private async change(
    context: RequestContext,
    manager: Manager,
    verb: string,
    body: string,
    work: (change: Change) => Promise<Response>,
  ): Promise<Response> {
    const { organization_id, actor } = manager;
    const request = { organization_id, actor_id: actor.id, route: `budget.${verb}`, body };
    const publisher = this.deps.organizationNews?.money;
    let hints = new MoneyHints();
    try {
      const answer = await changeOnce(this.deps, context, request, async (tx) => {
        hints = new MoneyHints();
        await lockMoneyOf(tx, organization_id);
        return work({ tx, manager, hints });
      });
      publisher?.publish(hints);
      await this.applyTags(organization_id, verb);
      return answer;
    } catch (error) {
      if (!(error instanceof WeirError)) publisher?.publishUnknown();
      throw error;
    }
  }
}

/** Returns the columns of a budget's tag. */
function tagColumns(tag: Readonly<Record<string, string>> | null | undefined) {
  const [[tag_name, tag_value] = [null, null]] = Object.entries(storedTags(tag ?? {}));
  return { tag_name, tag_value };
}

/** Requests the unused money back that the budget limits, so that its next grant knows the new limit. */
async function recall(tx: TransactionSql, hints: MoneyHints, budget: ShownBudget): Promise<void> {
  const { organization_id, key_id } = budget;
  const tag = tagOf(budget);
  hints.onRecall({ seq: await nextRecall(tx), organization_id, key_id, ...(tag && { tag }) });
}

function audit(
  tx: TransactionSql,
  { organization_id, actor }: Manager,
  verb: string,
  members: { readonly before: object | null; readonly after: object | null },
  subject_id: string,
) {
  return appendAudit(tx, {
    ...{ organization_id, actor, action: `budget.${verb}`, subject_id, ...members },
  });
}

/**
 * Finds the budget of the path, or the one with `id`. Another organization's budget is as missing as one that
 * never was (P6).
 */
async function requireBudget(
  sql: Sql | TransactionSql,
  { params }: RequestContext,
  organization_id: string,
  id = params['id'] ?? '',
): Promise<ShownBudget> {
  // No id contains NUL, and PostgreSQL refuses a text with NUL.
  const found = id.includes('\u0000') ? undefined : await findBudget(sql, organization_id, id);
  if (found) return found;
  throw new WeirError('not_found', 'There is no such budget.', { param: 'id' });
}

function keyNotFound(): WeirError {
  return new WeirError('invalid_request', 'There is no such API key.', { param: 'api_key_id' });
}

function twoScopes(): WeirError {
  return new WeirError('invalid_request', 'A budget limits a key or a tag, not both.', {
    ...{ param: 'tag', hint: 'Send either api_key_id or tag.' },
  });
}

function existsAlready(period: string): WeirError {
  return new WeirError('already_exists', `There is a budget for each ${period} already.`, {
    ...{ param: 'period', hint: 'GET /v1/management/budgets lists it. PATCH changes its limit.' },
  });
}

function tooManyBudgets(): WeirError {
  const message = `This organization can have at most ${MAX_BUDGETS} budgets.`;
  return new WeirError('invalid_request', message, { hint: 'Delete a budget that is not used.' });
}

/** The routes of budgets. */
export function budgetRoutes(app: BudgetRouteDeps): PathMethods[] {
  const budgets = new BudgetRoutes(app);
  const path = '/v1/management/budgets';
  return [
    [path, { GET: budgets.list, POST: budgets.create }],
    [`${path}/:id`, { GET: budgets.get, PATCH: budgets.update, DELETE: budgets.delete }],
  ];
}
