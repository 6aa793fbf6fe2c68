import { Type } from '@sinclair/typebox';
import { type Finder, type FoundKind, findByPrefix, hasObject } from '../../../db/find.ts';
import { findCall } from '../../../db/usage/calls.ts';
import { type Action, may } from '../../access/actions.ts';
import type { Manager } from '../../access/manager.ts';
import { requestIdOf } from '../../errors/request-id.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json } from '../endpoint.ts';
import { admitManager } from './keys.ts';
import { readQuery } from './list-query.ts';
import { uuidOf } from './usage/calls.ts';
import type { UsageDeps } from './usage/lines.ts';

const MAX_ID_CHARS = 200;
/** PostgreSQL's text type stores every character except NUL. */
const id = Type.String({
  ...{ minLength: 1, maxLength: MAX_ID_CHARS, pattern: '^[^\\u0000]*$' },
  errorMessage: `must have 1 to ${MAX_ID_CHARS} characters`,
});
/** `GET /v1/management/find` */
export const FindSchema = Type.Object({ id }, { additionalProperties: false });
const validate = validator(FindSchema);

type Kind = FoundKind | 'request';

/** The page that shows objects of each kind (docs/pages.md), and the action of its reader. */
const SHOWN: Record<Kind, readonly [page: string, action: Action]> = {
  request: ['usage', 'usage.read'],
  task: ['tasks', 'tasks.read'],
  batch: ['batches', 'tasks.read'],
  delivery: ['tasks', 'tasks.read'],
  key: ['api-keys', 'keys.read'],
  token: ['access', 'tokens.read'],
  person: ['access', 'people.read'],
  invitation: ['access', 'people.read'],
  audit_line: ['access', 'audit.read'],
  view: ['usage', 'views.read'],
  debug_window: ['usage', 'debug.read'],
  budget: ['billing', 'budgets.read'],
  upstream_key: ['access', 'upstream_keys.read'],
  alert: ['alerts', 'alerts.read'],
  alert_endpoint: ['alerts', 'alerts.read'],
  alert_delivery: ['alerts', 'alerts.read'],
};

/** The ids of each kind. The group is the id in the table. */
const FORMS: readonly [form: RegExp, kind: FoundKind][] = [
  [/^(weir_[0-9a-f]{1,64})$/, 'task'],
  [/^(msgbatch_[A-Za-z0-9]{1,64})$/, 'batch'],
  [/^msg_(weir_[0-9a-f]{1,64})$/, 'delivery'],
  [/^(key_[0-9a-f]{1,64})$/, 'key'],
  [/^(token_[0-9a-f]{1,64})$/, 'token'],
  [/^(person_[0-9A-Za-z]{1,64})$/, 'person'],
  [/^(link_[0-9a-f]{1,64})$/, 'invitation'],
  [/^(view_[0-9a-f]{1,64})$/, 'view'],
  [/^(dbg_[0-9a-f]{1,64})$/, 'debug_window'],
  [/^(budget_[0-9a-f]{1,64})$/, 'budget'],
  [/^(upkey_[0-9a-f]{1,64})$/, 'upstream_key'],
  [/^(alert_[0-9a-f]{1,64})$/, 'alert'],
  [/^(endpoint_[0-9a-f]{1,64})$/, 'alert_endpoint'],
  [/^(msg_[0-9a-f]{1,64})$/, 'alert_delivery'],
  [/^audit_(\d{1,15})$/, 'audit_line'],
];
/** The visible start of a key or a token, with the sign of what is left out or without it. */
const PREFIX = /^((sk|mt)-[A-Za-z0-9_-]{0,20})(?:…|\.\.\.)?$/;

/**
 * `GET /v1/management/find?id=`: what an id is, and which page shows it. An id of another organization, an
 * id whose kind the caller may not see, and an id that never was have the same answer (P6).
 */
export function findObject(deps: UsageDeps): Handler {
  return async (context) => {
    const manager = await admitManager(deps, context);
    const wanted = readQuery(context.request, validate).id.trim();
    const found = await find(deps, manager, wanted);
    if (!found || !may(manager.rights, SHOWN[found.kind][1])) {
      throw new WeirError('not_found', 'There is nothing with this id.', {
        param: 'id',
        hint: 'Send a whole id, e.g. req_…, weir_… or key_…, or the visible start of a key, sk-….',
      });
    }
    const [page] = SHOWN[found.kind];
    return json({ object: 'found', ...found, page });
  };
}

async function find(
  deps: UsageDeps,
  { organization_id, actor }: Manager,
  wanted: string,
): Promise<{ kind: Kind; id: string } | undefined> {
  const sql = deps.usage();
  const finder: Finder = { organization_id, person_id: actor.kind === 'person' ? actor.id : null };
  for (const [form, kind] of FORMS) {
    const stored = form.exec(wanted)?.[1];
    if (stored === undefined) continue;
    return (await hasObject(sql, finder, kind, stored)) ? { kind, id: wanted } : undefined;
  }
  const [, prefix = '', credential] = PREFIX.exec(wanted) ?? [];
  if (credential !== undefined) {
    const kind = credential === 'sk' ? 'key' : 'token';
    const of_prefix = await findByPrefix(sql, organization_id, kind, `${prefix}…`);
    return of_prefix === undefined ? undefined : { kind, id: of_prefix };
  }
  const uuid = uuidOf(wanted);
  const call = uuid === undefined ? undefined : await findCall(sql, organization_id, uuid);
  return call && { kind: 'request', id: requestIdOf(call.id) };
}
