import { SCOPES } from '../../src/access/actions.ts';
import { CreateBudgetSchema, UpdateBudgetSchema } from '../../src/http/budgets/schema.ts';
import {
  CheckAuditSchema,
  ExportAuditSchema,
  ListAuditSchema,
} from '../../src/http/management/audit-log.ts';
import { PurgeCacheSchema } from '../../src/http/management/cache.ts';
import { ListWindowsSchema, OpenWindowSchema } from '../../src/http/management/debug-windows.ts';
import { FindSchema } from '../../src/http/management/find.ts';
import { NoticesSchema } from '../../src/http/management/notices.ts';
import {
  CreateKeySchema,
  ListKeysSchema,
  RotateSchema,
  UpdateKeySchema,
} from '../../src/http/management/schema.ts';
import { UpdateSettingsSchema } from '../../src/http/management/settings.ts';
import { createTokenSchema, updateTokenSchema } from '../../src/http/management/token-record.ts';
import { ListTokensSchema, RevokeTokenSchema } from '../../src/http/management/tokens.ts';
import {
  CreateViewSchema,
  ListViewsSchema,
  UpdateViewSchema,
} from '../../src/http/management/views.ts';
import {
  InviteMemberSchema,
  ListInvitationsSchema,
  RevokeInvitationSchema,
} from '../../src/http/people/invitations.ts';
import { ListPeopleSchema, UpdatePersonSchema } from '../../src/http/people/members.ts';
import {
  CreateOwnKeySchema,
  NoMembersSchema,
  RotateOwnKeySchema,
  UpdateOwnKeySchema,
} from '../../src/http/upstream-keys/schema.ts';
import type { HeaderName, ReferenceRoute } from './route.ts';

const ONCE: readonly HeaderName[] = ['Idempotency-Key'];
const CHANGE: readonly HeaderName[] = ['Idempotency-Key', 'If-Match'];
const MATCH: readonly HeaderName[] = ['If-Match'];

const route = (method: ReferenceRoute['method'], path: string, says: string): ReferenceRoute => ({
  ...{ method, path: `/v1/management${path}`, says, caller: 'organization' },
});

const KEYS: readonly ReferenceRoute[] = [
  {
    ...route('GET', '/api-keys', 'Lists the API keys that were not deleted.'),
    query: ListKeysSchema,
    words: { external_id: 'Only the key with this external id.' },
  },
  {
    ...route('POST', '/api-keys', 'Creates an API key; only this answer has its secret.'),
    ...{ body: CreateKeySchema, headers: ONCE },
    more: 'The rules of keys: [API keys](../operations.md#api-keys).',
  },
  route('GET', '/api-keys/{keyId}', 'Shows an API key, also a deleted one.'),
  {
    ...route('PATCH', '/api-keys/{keyId}', 'Changes an API key.'),
    ...{ body: UpdateKeySchema, headers: CHANGE },
    words: { status: 'An inactive or suspended key is refused; a revoked one for ever.' },
  },
  {
    ...route('DELETE', '/api-keys/{keyId}', 'Revokes an API key and takes it off the list.'),
    headers: CHANGE,
  },
  {
    ...route(
      'POST',
      '/api-keys/{keyId}/rotate',
      'Gives an API key a new secret, which only this answer has.',
    ),
    ...{ body: RotateSchema, body_optional: true, headers: CHANGE },
  },
];

const TOKENS: readonly ReferenceRoute[] = [
  { ...route('GET', '/tokens', 'Lists the management tokens.'), query: ListTokensSchema },
  {
    ...route('POST', '/tokens', 'Creates a management token; only this answer has its secret.'),
    ...{ body: createTokenSchema(SCOPES), headers: ONCE },
    more: 'The rules of tokens: [tokens](../operations.md#tokens).',
  },
  route('GET', '/tokens/{id}', 'Shows a management token.'),
  {
    ...route(
      'PATCH',
      '/tokens/{id}',
      'Changes the name, the scopes or the expiry of a management token.',
    ),
    ...{ body: updateTokenSchema(SCOPES), headers: CHANGE },
  },
  {
    ...route(
      'POST',
      '/tokens/{id}/rotate',
      'Replaces a management token by a new one with the same settings.',
    ),
    ...{ body: RotateSchema, body_optional: true, headers: CHANGE },
  },
  {
    ...route('POST', '/tokens/{id}/revoke', 'Ends a management token at once.'),
    ...{ body: RevokeTokenSchema, body_optional: true, headers: CHANGE },
  },
];

const PEOPLE: readonly ReferenceRoute[] = [
  {
    ...route('GET', '/people', 'Lists the people of the organization with their roles.'),
    query: ListPeopleSchema,
    more: 'Roles, sessions and invitations: [people](../operations.md#people).',
  },
  route('GET', '/people/{id}', 'Shows a person of the organization.'),
  {
    ...route('PATCH', '/people/{id}', 'Changes the role of a person.'),
    ...{ body: UpdatePersonSchema, headers: MATCH },
  },
  {
    ...route(
      'DELETE',
      '/people/{id}',
      'Removes a person from the organization and ends the sessions of the person.',
    ),
    headers: MATCH,
  },
  { ...route('GET', '/invitations', 'Lists the invitations.'), query: ListInvitationsSchema },
  {
    ...route(
      'POST',
      '/invitations',
      'Invites a person, by mail or by a link that the answer shows.',
    ),
    ...{ body: InviteMemberSchema, headers: ONCE },
  },
  {
    ...route('POST', '/invitations/{id}/revoke', 'Revokes an invitation that nobody has accepted.'),
    ...{ body: RevokeInvitationSchema, body_optional: true },
  },
];

const DEBUG: readonly ReferenceRoute[] = [
  { ...route('GET', '/debug-windows', 'Lists the debug windows.'), query: ListWindowsSchema },
  {
    ...route(
      'POST',
      '/debug-windows',
      'Opens a debug window, in which requests and answers are copied.',
    ),
    ...{ body: OpenWindowSchema, headers: ONCE },
    words: { api_key_id: 'The key whose calls are copied; null, the default: all keys.' },
    more: 'What is copied: [debug windows](../operations.md#debug-windows).',
  },
  route('GET', '/debug-windows/{id}', 'Shows a debug window.'),
  route('POST', '/debug-windows/{id}/close', 'Closes a debug window before its time.'),
  {
    ...route(
      'GET',
      '/debug-events',
      'Lists who opened and closed windows, and who read which copy.',
    ),
    query: ListWindowsSchema,
  },
  route('GET', '/requests/{id}/debug', 'Returns the copied request and answer of one call.'),
];

const CACHE: readonly ReferenceRoute[] = [
  {
    ...route(
      'DELETE',
      '/cache',
      'Removes the stored answers of the cache: all, those of one model, or one.',
    ),
    ...{ query: PurgeCacheSchema, headers: ONCE },
    words: {
      model: 'Only the answers of this model.',
      cache_entry_id: 'Only this answer: `ce_…`, or the `req_…` of a call that got it.',
    },
    more: 'The rules: [the cache](../cache.md#purge).',
  },
];

const OWN_KEYS: readonly ReferenceRoute[] = [
  route('GET', '/upstream-keys', 'Lists the own upstream keys, without the keys themselves.'),
  {
    ...route('POST', '/upstream-keys', 'Tests an own upstream key, and keeps it encrypted.'),
    ...{ body: CreateOwnKeySchema, headers: ONCE },
    words: {
      protocol: 'The protocol of the provider.',
      models: 'The models that the key serves: public id → id at the provider; all that it lists.',
      priority: 'Own keys with a lower number are tried first; 0 by default.',
    },
    more: 'What calls cost, and who sees what: [own keys](../own-keys.md).',
  },
  route('GET', '/upstream-keys/{id}', 'Shows an own upstream key, also a revoked one.'),
  {
    ...route(
      'PATCH',
      '/upstream-keys/{id}',
      'Changes the name, the models or the priority of an own upstream key.',
    ),
    ...{ body: UpdateOwnKeySchema, headers: CHANGE },
    words: {
      models: 'The models that the key serves: public id → id at the provider.',
      priority: 'Own keys with a lower number are tried first.',
    },
  },
  {
    ...route(
      'POST',
      '/upstream-keys/{id}/test',
      'Tells why the provider refuses the key, if it does.',
    ),
    ...{ body: NoMembersSchema, body_optional: true },
  },
  {
    ...route(
      'POST',
      '/upstream-keys/{id}/rotate',
      'Tests another key of the same account, and puts it in the place of the old one.',
    ),
    ...{ body: RotateOwnKeySchema, headers: CHANGE },
  },
  {
    ...route('POST', '/upstream-keys/{id}/revoke', 'Deletes the key, which no call uses any more.'),
    ...{ body: NoMembersSchema, body_optional: true, headers: CHANGE },
  },
];

const SOFT_BUDGET = {
  when_reached:
    'What happens to a call beyond the limit: `refuse` (the default), `warn`, or `{"move_to": a model}`.',
  'when_reached.move_to': 'The cheaper model that serves such calls.',
};

const BUDGETS: readonly ReferenceRoute[] = [
  route('GET', '/budgets', 'Lists the budgets, with what their present windows have used.'),
  {
    ...route(
      'POST',
      '/budgets',
      'Limits what the organization, a key, or calls with a tag spend in each window.',
    ),
    ...{ body: CreateBudgetSchema, headers: ONCE },
    words: {
      api_key_id: 'The key that the budget limits; null: all keys of the organization together.',
      tag: 'The tag whose calls the budget limits: one name and value of their `metadata`, e.g. `{"team": "blue"}`.',
      period: 'The length of a window: `day`, `week` or `month`.',
      limit_amount: 'The most that is spent in a window, USD.',
      ...SOFT_BUDGET,
    },
    more: 'What counts, and when: [budgets](../budgets.md).',
  },
  route('GET', '/budgets/{id}', 'Shows a budget, with what its present window has used.'),
  {
    ...route(
      'PATCH',
      '/budgets/{id}',
      'Changes the limit of a budget, and what happens beyond it.',
    ),
    ...{ body: UpdateBudgetSchema, headers: CHANGE },
    words: { limit_amount: 'The most that is spent in a window, USD.', ...SOFT_BUDGET },
  },
  { ...route('DELETE', '/budgets/{id}', 'Deletes a budget.'), headers: CHANGE },
];

/** Which page a view is of. */
const VIEW = { page: 'The page of the view, e.g. `usage`.' };

const VIEWS: readonly ReferenceRoute[] = [
  {
    ...route('GET', '/views', 'Lists the saved views that the caller sees.'),
    query: ListViewsSchema,
    words: VIEW,
  },
  {
    ...route('POST', '/views', 'Saves a view of a page.'),
    ...{ body: CreateViewSchema, headers: ONCE, words: VIEW },
    more: 'Who sees a view: [saved views](../operations.md#saved-views).',
  },
  {
    ...route('PATCH', '/views/{id}', 'Changes a saved view.'),
    ...{ body: UpdateViewSchema, headers: CHANGE },
  },
  { ...route('DELETE', '/views/{id}', 'Removes a saved view.'), headers: CHANGE },
];

const AUDIT: readonly ReferenceRoute[] = [
  {
    ...route('GET', '/audit-log', 'Lists the changes in the organization, the newest first.'),
    query: ListAuditSchema,
    more: 'What a line has: [audit log](../operations.md#audit-log).',
  },
  {
    ...route(
      'GET',
      '/audit-log/export',
      'Exports the audit log, the oldest line first, one JSON object a line.',
    ),
    ...{ query: ExportAuditSchema, answer: 'application/x-ndjson' },
  },
  {
    ...route(
      'GET',
      '/audit-log/check',
      'Checks that no line of the audit log was changed or removed.',
    ),
    query: CheckAuditSchema,
  },
];

/** The routes with which an organization manages itself. */
export const MANAGEMENT_REFERENCE: readonly ReferenceRoute[] = [
  route('GET', '/balance', 'Shows the money of the organization.'),
  route(
    'GET',
    '/organization',
    'Shows the organization with each setting, its default and its bounds.',
  ),
  {
    ...route('PATCH', '/organization', 'Changes the settings of the organization.'),
    ...{ body: UpdateSettingsSchema, headers: CHANGE },
    more: 'The settings: [settings of an organization](../operations.md#settings-of-an-organization).',
  },
  {
    ...route(
      'GET',
      '/notices',
      'Lists what needs a person: keys near their caps, a low balance, failed webhooks.',
    ),
    query: NoticesSchema,
    more: 'The kinds of notices: [notices](../operations.md#notices).',
  },
  {
    ...route('GET', '/find', 'Says what an id is, and which page of the dashboard shows it.'),
    query: FindSchema,
  },
  route('GET', '/models', 'Lists the models with their prices, and whether they take calls now.'),
  route('GET', '/models/{model}', 'Shows a model with its price, its contract and its rank.'),
  ...KEYS,
  ...TOKENS,
  ...PEOPLE,
  route('GET', '/webhook-secret', 'Shows the secret with which webhooks are signed.'),
  {
    ...route('POST', '/webhook-secret/rotate', 'Replaces the secret of webhooks.'),
    headers: ONCE,
    more: 'How to check a signature: [webhooks](../operations.md#webhooks).',
  },
  ...DEBUG,
  ...CACHE,
  ...BUDGETS,
  ...OWN_KEYS,
  ...VIEWS,
  ...AUDIT,
];
