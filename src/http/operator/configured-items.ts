import type { TransactionSql } from '../../../db/client.ts';
import {
  type ConfiguredItem,
  findConfiguredItem,
  ITEM_KINDS,
  type ItemKind,
  type ItemRow,
  type ItemValue,
  lockItems,
  readConfiguredItems,
  writeItem,
} from '../../../db/configuration/items.ts';
import type { Operator } from '../../access/manager.ts';
import { rowKeyOf } from '../../config/model-layers.ts';
import { declaredInFile, ItemViews, WINS_RULE } from '../../config/which-wins.ts';
import { closestName } from '../../errors/closest-name.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { canonicalJson } from '../../json/canonical.ts';
import { decodePath, type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { readQuery } from '../management/list-query.ts';
import {
  type ConfigurationDeps,
  changeConfiguration,
  recordChange,
} from './configuration-change.ts';
import { changed } from './configuration-stores.ts';
import { COLLECTIONS, CreateModelSchema, ListItemsSchema, readItemBody } from './item-bodies.ts';
import { refuseUsedModel, withFitting } from './item-checks.ts';
import { readOperatorBody } from './organization-change.ts';

/** The most rows, as many as a `weir.yaml` may have models. */
const MAX_ROWS = 10_000;
const validateList = validator(ListItemsSchema);
const validateCreate = validator(CreateModelSchema);

/** The routes of the models, prices, routing or presets that operators configure. */
export class ConfiguredItemRoutes {
  constructor(
    private readonly deps: ConfigurationDeps,
    private readonly kind: ItemKind,
  ) {}

  /** `GET /v1/operator/models` and the other collections: all items, and where each comes from. */
  readonly list: Handler = async (context) => {
    await this.deps.authentication.requireOperator(context);
    const { source } = readQuery(context.request, validateList);
    const { sql, installation } = this.deps.operator();
    const rows = new Map((await readConfiguredItems(sql)).map((row) => [rowKeyOf(row), row]));
    const views = new ItemViews(installation.now);
    const data = views
      .names(this.kind)
      .map((id) => this.record(views, id, rows.get(rowKeyOf({ kind: this.kind, id }))));
    const shown = data.filter((each) => source === undefined || each.source === source);
    return json({ object: 'list', data: shown });
  };

  readonly get: Handler = async (context) => {
    await this.deps.authentication.requireOperator(context);
    const id = this.idOf(context);
    const row = await findConfiguredItem(this.deps.operator().sql, this.kind, id);
    return this.answer(id, row);
  };

  /** `POST /v1/operator/models`. Makes a model that the catalogue does not have. */
  readonly create: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const { value, text: body } = await readOperatorBody(context);
    const { id, ...members } = validateCreate(value) as { id: string } & ItemValue;
    const { installation } = this.deps.operator();
    return this.change(context, operator, id, 'create', body, async (tx, row) => {
      if (row || new ItemViews(installation.now).find(this.kind, id)) throw alreadyExists();
      return this.write(tx, operator, { kind: this.kind, id, value: members }, row);
    });
  };

  /** `PATCH …/{id}`. Sets the members that the body names, and removes those that are null. */
  readonly update: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const id = this.idOf(context);
    const { value, text: body } = await readOperatorBody(context);
    const { set, removed } = readItemBody(this.kind, value);
    return this.change(context, operator, id, 'update', body, async (tx, row) => {
      requireMatch(context.request, row?.value ?? {});
      const kept = Object.entries({ ...row?.value, ...set }).filter(
        ([name]) => !removed.includes(name),
      );
      if (kept.length === 0) throw nothingLeft();
      const item = { kind: this.kind, id, value: Object.fromEntries(kept) };
      return this.write(tx, operator, item, row, Object.keys(set));
    });
  };

  /** `DELETE …/{id}`. Removes the row, so that the value of the catalogue is used again. */
  readonly remove: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const id = decodePath(context.params['id'] ?? '');
    const { kind } = this;
    // PostgreSQL refuses a text with NUL.
    if (id.includes('\u0000')) throw rowNotFound();
    return this.change(context, operator, id, 'delete', '', async (tx, row) => {
      if (!row) throw rowNotFound();
      requireMatch(context.request, row.value);
      if (kind === 'model') await refuseUsedModel(tx, this.deps.operator().installation.now, id);
      await writeItem(tx, row, null);
      await recordChange(tx, operator, {
        ...{ kind, id, action: `${kind}.delete`, before: row.value, after: null },
        shown: { before: row.value, after: null },
      });
      return json({ object: kind, id, deleted: true });
    });
  };

  /** Makes a change while nobody else changes an item. */
  private change(
    context: RequestContext,
    operator: Operator,
    id: string,
    verb: string,
    body: string,
    work: (tx: TransactionSql, row: ItemRow | undefined) => Promise<Response>,
  ): Promise<Response> {
    const route = `${this.kind}.${verb}`;
    return changeConfiguration(this.deps, context, operator, { route, body }, async (tx) => {
      await lockItems(tx);
      return work(tx, await findConfiguredItem(tx, this.kind, id));
    });
  }

  /**
   * Writes a row after a check of what it does together with the other rows and with `weir.yaml`.
   * `set` are the members that the request names; all by default.
   */
  private async write(
    tx: TransactionSql,
    operator: Operator,
    item: ConfiguredItem,
    row: ItemRow | undefined,
    set = Object.keys(item.value),
  ): Promise<Response> {
    const { kind, id, value } = item;
    const { installation } = this.deps.operator();
    if (!row && (await readConfiguredItems(tx)).length >= MAX_ROWS) throw tooMany();
    const inFile = declaredInFile(installation.now, item);
    const fixed = kind === 'routing' ? inFile : set.filter((name) => inFile.includes(name));
    if (fixed[0] !== undefined) throw fileWins(kind === 'routing' ? 'id' : fixed[0]);
    const next = await withFitting(tx, installation.now, item);
    const isSame = canonicalJson(row?.value ?? null) === canonicalJson(value);
    const written = isSame ? row : await writeItem(tx, item, value);
    if (!isSame) {
      const before = row?.value ?? null;
      const action = `${kind}.${row ? 'update' : 'create'}`;
      const shown = changed(before, value);
      await recordChange(tx, operator, { kind, id, action, before, after: value, shown });
    }
    return this.answer(id, written, next);
  }

  private answer(
    id: string,
    row: ItemRow | undefined,
    now = this.deps.operator().installation.now,
  ): Response {
    return withEtag(json(this.record(new ItemViews(now), id, row)), row?.value ?? {});
  }

  private record(views: ItemViews, id: string, row: ItemRow | undefined) {
    const view = views.find(this.kind, id);
    if (!view) throw itemNotFound(this.kind, id, views.names(this.kind));
    const { source, over, members, value, problem } = view;
    return {
      ...{ object: this.kind, id, source, wins: { rule: WINS_RULE, over, members }, value },
      row: row
        ? {
            value: row.value,
            problem: problem ?? null,
            created_at: row.created_at.toISOString(),
            changed_at: row.changed_at.toISOString(),
          }
        : null,
    };
  }

  /** Returns the id in the path. Throws WeirError if there is no such item. */
  private idOf({ params }: RequestContext): string {
    const id = decodePath(params['id'] ?? '');
    const ids = new ItemViews(this.deps.operator().installation.now).names(this.kind);
    if (ids.includes(id)) return id;
    throw itemNotFound(this.kind, id, ids);
  }
}

/** All kinds of items, each with its path. */
export const ITEM_ROUTES = ITEM_KINDS.map((kind) => {
  return { kind, path: `/v1/operator/${COLLECTIONS[kind]}` };
});

function itemNotFound(kind: ItemKind, id: string, ids: readonly string[]): WeirError {
  const meant = closestName(id, ids);
  const what = kind === 'preset' ? 'scene' : 'model';
  return new WeirError('not_found', `There is no such ${what}.`, {
    param: 'id',
    hint:
      meant === undefined
        ? `GET /v1/operator/${COLLECTIONS[kind]} lists them.`
        : `Did you mean ${meant}?`,
  });
}

function rowNotFound(): WeirError {
  return new WeirError('not_found', 'No operator set anything here.', {
    ...{ param: 'id', hint: 'The value comes from weir.yaml or from the catalogue.' },
  });
}

function alreadyExists(): WeirError {
  return new WeirError('already_exists', 'There is such a model.', {
    ...{ param: 'id', hint: 'PATCH the model to change it.' },
  });
}

function nothingLeft(): WeirError {
  const hint = 'Send DELETE to use the value of the catalogue again.';
  return new WeirError('invalid_request', 'At least one member is required.', {
    param: 'body',
    hint,
  });
}

function fileWins(param: string): WeirError {
  return new WeirError('conflict', 'weir.yaml declares this, so no request can change it.', {
    ...{ param, hint: 'Change weir.yaml; Weir reloads the file at once.' },
  });
}

function tooMany(): WeirError {
  return new WeirError('conflict', `Operators can set at most ${MAX_ROWS} items.`, {
    hint: 'Delete an item that you do not need.',
  });
}
