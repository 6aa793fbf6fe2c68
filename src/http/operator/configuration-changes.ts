import { type Static, Type } from '@sinclair/typebox';
import type { TransactionSql } from '../../../db/client.ts';
import {
  type ConfigurationChange,
  findConfigurationChange,
  type ListedChange,
  listConfigurationChanges,
  type RowState,
} from '../../../db/configuration/changes.ts';
import type { ItemKind } from '../../../db/configuration/items.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { canonicalJson } from '../../json/canonical.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch } from '../etag.ts';
import {
  choiceParameter,
  nameParameter,
  PAGE_PARAMETERS,
  readQuery,
} from '../management/list-query.ts';
import {
  type ConfigurationDeps,
  changeConfiguration,
  recordChange,
} from './configuration-change.ts';
import { KINDS, storeOf } from './configuration-stores.ts';
import { refuseUsedModel, withFitting } from './item-checks.ts';

const DEFAULT_LIMIT = 50;
const SEQ = /^\d{1,15}$/;
const closed = { additionalProperties: false };

/** `GET /v1/operator/configuration/changes` */
export const ListChangesSchema = Type.Object(
  {
    ...{ kind: choiceParameter(KINDS), id: nameParameter() },
    ...{ limit: PAGE_PARAMETERS.limit, cursor: PAGE_PARAMETERS.cursor },
  },
  closed,
);
const validateList = validator(ListChangesSchema);

/** The routes that list the changes of the configuration, and take one back. */
export class ConfigurationChangeRoutes {
  constructor(private readonly deps: ConfigurationDeps) {}

  /** `GET /v1/operator/configuration/changes`, the newest first. */
  readonly list: Handler = async (context) => {
    await this.deps.authentication.requireOperator(context);
    const query = readQuery(context.request, validateList);
    const { limit = DEFAULT_LIMIT } = query;
    const before = beforeOf(query);
    const rows = await listConfigurationChanges(this.deps.operator().sql, query, before, limit + 1);
    const data = rows.slice(0, limit);
    const has_more = rows.length > limit;
    const next_cursor = has_more ? String(data.at(-1)?.seq) : null;
    return json({ object: 'list', data: data.map(changeRecord), has_more, next_cursor });
  };

  /**
   * `POST /v1/operator/configuration/changes/{seq}/take-back`. The members that the change set get the
   * values from before. Refused if somebody changed one of them later.
   */
  readonly takeBack: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const { sql, installation, announceSwitch, applySwitches } = this.deps.operator();
    const change = await findConfigurationChange(sql, seqOf(context));
    if (!change) throw changeNotFound();
    const { kind, id, seq } = change;
    const route = 'configuration.take_back';
    const source = installation.now.sources.get(id);
    const isHidden = source !== undefined && source !== 'row';
    const response = await changeConfiguration(
      this.deps,
      context,
      operator,
      { route, body: '' },
      async (tx) => {
        const store = storeOf(kind);
        const { state: now, tag } = await store.lock(tx, id, isHidden);
        requireMatch(context.request, tag);
        const next = takenBack(change, now, store.ignored);
        const shown = store.shown(now, next);
        if (kind !== 'channel' && kind !== 'channel_switch') await this.check(tx, kind, id, next);
        await store.write(tx, id, next, now === null);
        const action = `${kind}.take_back`;
        const line = { kind, id, action, before: now, after: next, shown, takes_back: seq };
        const own = await recordChange(tx, operator, line);
        return json({
          object: 'configuration_change',
          seq: own,
          kind,
          id,
          takes_back: seq,
          ...shown,
        });
      },
    );
    if (kind === 'channel' || kind === 'channel_switch') {
      announceSwitch(id);
      await applySwitches().catch(() => undefined);
    }
    return response;
  };

  /** Throws WeirError if an item would not fit after a take-back, or if its model is in use. */
  private async check(
    tx: TransactionSql,
    kind: ItemKind,
    id: string,
    value: RowState | null,
  ): Promise<void> {
    const { now } = this.deps.operator().installation;
    if (value !== null) await withFitting(tx, now, { kind, id, value });
    else if (kind === 'model') await refuseUsedModel(tx, now, id);
  }
}

/**
 * Returns the row without a change. Throws WeirError if a member that the change set has another value
 * now, or if the change is taken back already.
 */
function takenBack(
  { before, after }: ConfigurationChange,
  now: RowState | null,
  ignored: readonly string[],
): RowState | null {
  if (after === null) {
    if (now !== null) throw changedLater();
    return before;
  }
  if (now === null) throw changedLater();
  const set =
    before === null ? Object.keys(after) : Object.keys(changedMembers(before, after)?.after ?? {});
  const compared = set.filter((name) => !ignored.includes(name));
  const differs = (name: string) =>
    canonicalJson(now[name] ?? null) !== canonicalJson(after[name] ?? null);
  if (compared.some(differs)) throw changedLater();
  if (before === null) return null;
  const next = new Map(Object.entries(now));
  for (const name of set) {
    if (Object.hasOwn(before, name)) next.set(name, before[name]);
    else next.delete(name);
  }
  return Object.fromEntries(next);
}

function changeRecord(change: ListedChange): object {
  const { seq, kind, id, action, before, after, takes_back, taken_back_by, at } = change;
  return {
    ...{ object: 'configuration_change', seq, kind, id, action, at: at.toISOString() },
    actor: { id: change.actor_id, label: change.actor_label },
    ...{ before, after, takes_back, taken_back_by },
  };
}

function beforeOf({ cursor }: Static<typeof ListChangesSchema>): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  if (SEQ.test(cursor)) return Number(cursor);
  throw new WeirError('invalid_request', 'cursor is not the next_cursor of a page.', {
    param: 'cursor',
    hint: 'Leave cursor out for the first page.',
  });
}

function seqOf({ params }: RequestContext): number {
  const seq = params['seq'] ?? '';
  if (SEQ.test(seq)) return Number(seq);
  throw changeNotFound();
}

function changeNotFound(): WeirError {
  return new WeirError('not_found', 'There is no such change that can be taken back.', {
    param: 'seq',
    hint: 'GET /v1/operator/configuration/changes lists the changes of the last 30 days.',
  });
}

function changedLater(): WeirError {
  return new WeirError('conflict', 'Somebody changed the same members later.', {
    param: 'seq',
    hint: 'Take the later changes back first, or change the members yourself.',
  });
}
