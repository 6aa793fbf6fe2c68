import type { Static } from '@sinclair/typebox';
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
  updateBudget,
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
import { admitManager, type ManagementDeps, servedTo } from '../management/keys.ts';
import { storedChoice } from '../management/when-reached.ts';
import type { PathMethods } from '../route.ts';
import { storedTags } from '../tags-schema.ts';
import { auditedBudget, budgetRecord, budgetSettings, choiceOf, columnsOf } from './record.ts';
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
    const { api_key_id, tag, period, limit_amount, when_reached } = validateCreate(value);
    const key_id = api_key_id ?? null;
    if (key_id !== null && tag) throw twoScopes();
    const { organization_id } = manager;
    const scope = { organization_id, key_id, ...tagColumns(tag) };
    const choice = columnsOf(this.choice(when_reached, organization_id));
    return this.change(context, manager, 'create', text, async ({ tx, hints }) => {
      if ((await countBudgets(tx, organization_id)) >= MAX_BUDGETS) throw tooManyBudgets();
      if (key_id !== null && !(await hasKey(tx, organization_id, key_id))) throw keyNotFound();
      const id = newId('budget');
      const limit_nano_usd = budgetLimitOf(limit_amount);
      const isNew = await insertBudget(tx, { id, ...scope, period, limit_nano_usd, ...choice });
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
    const { limit_amount, when_reached } = validateUpdate(value);
    if (limit_amount === undefined && when_reached === undefined) throw nothingToChange();
    const { organization_id } = manager;
    return this.change(context, manager, 'update', text, async ({ tx, hints }) => {
      const before = await requireBudget(tx, context, organization_id);
      requireMatch(context.request, budgetSettings(before));
      const isSame = Bun.deepEquals(when_reached ?? choiceOf(before), choiceOf(before));
      // A choice that was made before may stay, whatever the catalogue has now.
      const choice = isSame ? choiceOf(before) : this.choice(when_reached, organization_id);
      const { limit_nano_usd: earlier } = before;
      const limit_nano_usd = limit_amount === undefined ? earlier : budgetLimitOf(limit_amount);
      await updateBudget(tx, before.id, { limit_nano_usd, ...columnsOf(choice) });
      const after = await requireBudget(tx, context, organization_id);
      // Quota actors learn with their next grants that a soft budget is not reached any more.
      const isSoft = after.when_reached !== 'refuse' || before.when_reached !== 'refuse';
      if (limit_nano_usd < earlier || isSoft) await recall(tx, hints, after);
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
      if (budget.when_reached !== 'refuse') await recall(tx, hints, budget);
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

  private choice(
    chosen: Static<typeof CreateBudgetSchema>['when_reached'],
    organization_id: string,
  ) {
    const catalogue = this.deps.catalogue(organization_id);
    const isServed = servedTo(this.deps, organization_id);
    return storedChoice(chosen, { catalogue, isServed, param: 'when_reached' });
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

function nothingToChange(): WeirError {
  return new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
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
