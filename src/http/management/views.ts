import { Type } from '@sinclair/typebox';
import { appendAudit } from '../../../db/audit/log.ts';
import type { TransactionSql } from '../../../db/client.ts';
import { newId } from '../../../db/secrets.ts';
import {
  deleteView,
  findView,
  hasManyViews,
  insertView,
  listViews,
  lockViews,
  MAX_VIEWS,
  updateView,
  type ViewReader,
  type ViewRow,
} from '../../../db/views/views.ts';
import { may } from '../../access/actions.ts';
import type { Manager } from '../../access/manager.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { requirePermission } from '../auth/permission.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { changeOnce } from './change-once.ts';
import { admitManager, type ManagementDeps } from './keys.ts';
import { readQuery } from './list-query.ts';
import { NAME, trimmedName } from './schema.ts';

const MAX_QUERY_CHARS = 4_000;
const PAGE_NAME = '^[a-z][a-z0-9-]{0,39}$';

const page = Type.String({
  pattern: PAGE_NAME,
  errorMessage: 'must be the name of a page, e.g. usage',
});
/** An address has visible ASCII only, so a view can be put behind `?` as it is. */
const query = Type.String({
  maxLength: MAX_QUERY_CHARS,
  pattern: '^(?:[\\x21-\\x3e\\x40-\\x7e][\\x21-\\x7e]*)?$',
  errorMessage: `must be the query of an address without its first "?", at most ${MAX_QUERY_CHARS} characters`,
});
const shared = Type.Boolean({ errorMessage: 'must be true or false' });
const closed = { additionalProperties: false };
/** `GET /v1/management/views` */
export const ListViewsSchema = Type.Object({ page: Type.Optional(page) }, closed);
/** `POST /v1/management/views` */
export const CreateViewSchema = Type.Object(
  { name: NAME, page, query, shared: Type.Optional(shared) },
  closed,
);
/** `PATCH /v1/management/views/{id}` */
export const UpdateViewSchema = Type.Partial(
  Type.Object({ name: NAME, query, shared }, closed),
  closed,
);
const validateList = validator(ListViewsSchema);
const validateCreate = validator(CreateViewSchema);
const validateUpdate = validator(UpdateViewSchema);

/**
 * Saved views of pages: `GET`, `POST /v1/management/views`, `PATCH`, `DELETE …/{id}`. A view belongs to a
 * person, or is shared with the organization. A view of another person answers like one that does not
 * exist. A token has no person, so it has only shared views. Only shared views are in the audit log.
 */
export class SavedViews {
  constructor(private readonly deps: ManagementDeps) {}

  readonly list: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const asked = readQuery(context.request, validateList);
    const views = await listViews(this.deps.sql, readerOf(manager), asked.page);
    const data = views.map((view) => ({ ...record(view), may_change: mayChange(manager, view) }));
    return json({ object: 'list', data });
  };

  readonly create: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { value, text } = await this.readBody(context, manager);
    const body = validateCreate(value);
    const name = trimmedName(body.name);
    const reader = readerOf(manager);
    const person_id = ownerOf(manager, body.shared ?? reader.person_id === null);
    return this.change(context, manager, 'create', text, async (tx) => {
      await requireRoom(tx, manager, person_id);
      const row = await insertView(tx, {
        ...{ id: newId('view'), organization_id: manager.organization_id },
        ...{ name, page: body.page, query: body.query, person_id, created_by: manager.actor.id },
      });
      await audit(tx, manager, 'create', null, row);
      return answer(row);
    });
  };

  readonly update: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { value, text } = await this.readBody(context, manager);
    const body = validateUpdate(value);
    if (Object.keys(body).length === 0) {
      throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
    }
    const changes = {
      ...(body.name === undefined ? {} : { name: trimmedName(body.name) }),
      ...(body.query === undefined ? {} : { query: body.query }),
      ...(body.shared === undefined ? {} : { person_id: ownerOf(manager, body.shared) }),
    };
    return this.change(context, manager, 'update', text, async (tx) => {
      const before = await requireView(tx, context, manager);
      const { person_id = before.person_id } = changes;
      if (person_id !== before.person_id) await requireRoom(tx, manager, person_id);
      const after = await updateView(tx, readerOf(manager), before.id, changes);
      await audit(tx, manager, 'update', before, after);
      return answer(after);
    });
  };

  readonly delete: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    return this.change(context, manager, 'delete', '', async (tx) => {
      const view = await requireView(tx, context, manager);
      await deleteView(tx, readerOf(manager), view.id);
      await audit(tx, manager, 'delete', view, null);
      return json({ object: 'view.deleted', id: view.id, deleted: true });
    });
  };

  private readBody({ request, bytes }: RequestContext, { organization_id }: Manager) {
    return readJsonObject(request, bytes.of(organization_id), MAX_MANAGEMENT_BODY_BYTES);
  }

  /** Runs a change while no other request changes views of the organization. */
  private change(
    context: RequestContext,
    { organization_id, actor }: Manager,
    verb: string,
    body: string,
    work: (tx: TransactionSql) => Promise<Response>,
  ): Promise<Response> {
    const request = { organization_id, actor_id: actor.id, route: `view.${verb}`, body };
    return changeOnce(this.deps, context, request, async (tx) => {
      await lockViews(tx, organization_id);
      return work(tx);
    });
  }
}

function readerOf({ organization_id, actor }: Manager): ViewReader {
  return { organization_id, person_id: actor.kind === 'person' ? actor.id : null };
}

/**
 * Returns whose a view is; null = shared. Throws WeirError if the caller may not share views, or is a
 * token, which has no views of its own.
 */
function ownerOf(manager: Manager, isShared: boolean): string | null {
  const { person_id } = readerOf(manager);
  if (isShared) requirePermission(manager.rights, 'views.share');
  else if (person_id === null) {
    throw new WeirError('invalid_request', 'A token has no views of its own.', {
      param: 'shared',
      hint: 'Send shared: true, or sign in as a person.',
    });
  }
  return isShared ? null : person_id;
}

const mayChange = ({ rights }: Manager, { person_id }: ViewRow) =>
  may(rights, person_id === null ? 'views.share' : 'views.write');

/** Returns the view of the path, which the caller may change. Throws WeirError. */
async function requireView(
  tx: TransactionSql,
  { request, params }: RequestContext,
  manager: Manager,
): Promise<ViewRow> {
  const id = params['id'] ?? '';
  // No id contains NUL, and PostgreSQL refuses a text with NUL.
  const view = id.includes('\u0000') ? undefined : await findView(tx, readerOf(manager), id);
  if (!view) throw new WeirError('not_found', 'There is no such view.', { param: 'id' });
  if (view.person_id === null) requirePermission(manager.rights, 'views.share');
  requireMatch(request, settingsOf(view));
  return view;
}

async function requireRoom(
  tx: TransactionSql,
  { organization_id }: Manager,
  person_id: string | null,
): Promise<void> {
  if (!(await hasManyViews(tx, { organization_id, person_id }))) return;
  const whose = person_id === null ? 'An organization can share' : 'A person can have';
  throw new WeirError('invalid_request', `${whose} at most ${MAX_VIEWS} views.`, {
    hint: 'Delete a view that nobody uses.',
  });
}

/** Adds a line to the audit log, if the organization sees the view or saw it. */
async function audit(
  tx: TransactionSql,
  { organization_id, actor }: Manager,
  verb: string,
  before: ViewRow | null,
  after: ViewRow | null,
): Promise<void> {
  const [old, now] = [before, after].map((view) =>
    view?.person_id === null ? settingsOf(view) : null,
  );
  if (!old && !now) return;
  const members =
    old && now ? changedMembers(old, now) : { before: old ?? null, after: now ?? null };
  if (!members) return;
  await appendAudit(tx, {
    ...{ organization_id, actor, action: `view.${verb}`, ...members },
    subject_id: (after ?? before)?.id ?? '',
  });
}

function settingsOf({ name, page, query, person_id }: ViewRow) {
  return { name, page, query, shared: person_id === null };
}

function record(view: ViewRow): object {
  return {
    ...{ object: 'view', id: view.id, ...settingsOf(view), created_by: view.created_by },
    created_at: view.created_at.toISOString(),
    updated_at: view.updated_at.toISOString(),
  };
}

const answer = (view: ViewRow) => withEtag(json(record(view)), settingsOf(view));
