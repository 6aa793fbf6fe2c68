import { SCOPES } from '../../src/access/actions.ts';
import { createTokenSchema } from '../../src/http/management/token-record.ts';
import { ListTokensSchema } from '../../src/http/management/tokens.ts';
import { BooksQuerySchema, BooksSchema } from '../../src/http/operator/books.ts';
import {
  CheckSchema,
  CreateChannelSchema,
  UpdateChannelSchema,
} from '../../src/http/operator/channel-settings.ts';
import { SwitchSchema, TestChannelSchema } from '../../src/http/operator/channels.ts';
import {
  CircuitHistorySchema,
  HistoryQuerySchema,
} from '../../src/http/operator/circuit-history.ts';
import { DryRunSchema } from '../../src/http/operator/dry-run.ts';
import {
  CreateOrganizationSchema,
  CreditLineSchema,
  DepositSchema,
  ListDepositsSchema,
  ListOrganizationsSchema,
  StatusSchema,
  UpdateOrganizationSchema,
} from '../../src/http/operator/organization-record.ts';
import {
  ImportBillSchema,
  ReconcileSchema,
  ReconciliationSchema,
} from '../../src/http/operator/reconciliation.ts';
import { OperatorTaskListSchema, OperatorTaskQuerySchema } from '../../src/http/operator/tasks.ts';
import { CONFIGURATION_ROUTES } from './configuration-routes.ts';
import type { HeaderName, ReferenceRoute } from './route.ts';

const ONCE: readonly HeaderName[] = ['Idempotency-Key'];
const CHANGE: readonly HeaderName[] = ['Idempotency-Key', 'If-Match'];
const MATCH: readonly HeaderName[] = ['If-Match'];

const route = (method: ReferenceRoute['method'], path: string, says: string): ReferenceRoute => ({
  ...{ method, path: `/v1/operator${path}`, says, caller: 'operator' },
});

/** The terms of an organization. */
const TERMS = {
  name: 'The name of the organization.',
  role: 'The role, which sets the limit of requests: one of `weir.yaml` or a built-in one.',
  requests_per_minute: 'The most requests in a minute; null: the limit of the role.',
};
/** The settings of a channel. */
const SETTINGS = {
  id: 'The id of the channel; by default made from the name of the vendor.',
  models: 'Public id → id at the provider; by default all that the provider lists.',
  protocol: 'The protocol of the provider.',
};

const ORGANIZATIONS: readonly ReferenceRoute[] = [
  {
    ...route('GET', '/organizations', 'Lists the organizations with their balances.'),
    query: ListOrganizationsSchema,
    words: { name: 'Only names with this part.', role: 'Only this role.' },
    more: 'Terms, statuses and money: [organizations](../operations.md#organizations).',
  },
  {
    ...route('POST', '/organizations', 'Creates an organization.'),
    ...{ body: CreateOrganizationSchema, headers: ONCE, words: TERMS },
  },
  route('GET', '/organizations/{id}', 'Shows an organization with its terms and its money.'),
  {
    ...route('PATCH', '/organizations/{id}', 'Changes the name or the terms of an organization.'),
    ...{ body: UpdateOrganizationSchema, headers: CHANGE, words: TERMS },
  },
  {
    ...route('POST', '/organizations/{id}/suspend', 'Refuses all new calls of an organization.'),
    ...{ body: StatusSchema, headers: CHANGE },
  },
  {
    ...route(
      'POST',
      '/organizations/{id}/reactivate',
      'Accepts the calls of an organization again.',
    ),
    ...{ body: StatusSchema, headers: CHANGE },
  },
  {
    ...route('POST', '/organizations/{id}/close', 'Closes an organization.'),
    ...{ body: StatusSchema, headers: CHANGE },
  },
  {
    ...route(
      'GET',
      '/organizations/{id}/deposits',
      'Lists the deposits of an organization, the newest first.',
    ),
    query: ListDepositsSchema,
  },
  {
    ...route('POST', '/organizations/{id}/deposits', 'Books a payment once for each reference.'),
    ...{ body: DepositSchema, headers: ONCE },
    words: { amount: 'The payment, USD.' },
  },
  {
    ...route(
      'PATCH',
      '/organizations/{id}/credit-line',
      'Sets how much money an organization may owe.',
    ),
    ...{ body: CreditLineSchema, headers: ONCE },
    words: { amount: 'The credit line, USD.' },
  },
  {
    ...route(
      'GET',
      '/organizations/{id}/tokens',
      'Lists the management tokens of an organization.',
    ),
    query: ListTokensSchema,
  },
  {
    ...route(
      'POST',
      '/organizations/{id}/tokens',
      'Creates a management token for an organization.',
    ),
    ...{ body: createTokenSchema(SCOPES), headers: ONCE },
  },
];

const CHANNELS: readonly ReferenceRoute[] = [
  {
    ...route('GET', '/channels', 'Lists the channels with their health on this replica.'),
    more: 'States and switches: [channels](../operations.md#channels).',
  },
  {
    ...route('POST', '/channels', 'Makes a channel, after a test of its key.'),
    ...{ body: CreateChannelSchema, headers: ONCE, words: SETTINGS },
  },
  {
    ...route(
      'POST',
      '/channels/check',
      'Tests the key of a provider, and shows its models with prices.',
    ),
    body: CheckSchema,
    words: {
      ...SETTINGS,
      api_key: 'The key to test. Nothing is stored.',
      channel: 'A channel whose account is tested instead.',
    },
  },
  route('GET', '/channels/{id}', 'Shows a channel.'),
  {
    ...route('PATCH', '/channels/{id}', 'Changes a channel that an operator made.'),
    ...{ body: UpdateChannelSchema, headers: CHANGE, words: SETTINGS },
  },
  {
    ...route('DELETE', '/channels/{id}', 'Removes a channel that an operator made.'),
    headers: CHANGE,
  },
  {
    ...route('POST', '/channels/{id}/test', 'Sends a minimal request over a channel.'),
    ...{ body: TestChannelSchema, body_optional: true },
    words: { model: 'The model to call; by default one of the channel.' },
  },
  {
    ...route('POST', '/channels/{id}/enable', 'Lets a channel take calls again.'),
    headers: MATCH,
  },
  {
    ...route('POST', '/channels/{id}/disable', 'Turns a channel off: it gets no new calls.'),
    ...{ body: SwitchSchema, body_optional: true, headers: MATCH },
  },
  {
    ...route(
      'POST',
      '/channels/{id}/drain',
      'Turns a channel off, and shows `draining` while work runs on it.',
    ),
    ...{ body: SwitchSchema, body_optional: true, headers: MATCH },
  },
  {
    ...route(
      'GET',
      '/channels/{id}/circuit-history',
      'Lists the changes of a channel’s circuits, the newest first.',
    ),
    ...{ query: HistoryQuerySchema, answer_schema: CircuitHistorySchema },
  },
];

/** The routes with which operators run the installation. */
export const OPERATOR_ROUTES: readonly ReferenceRoute[] = [
  ...ORGANIZATIONS,
  ...CHANNELS,
  ...CONFIGURATION_ROUTES,
  {
    ...route(
      'GET',
      '/arrivals',
      'Sends each call that reaches any replica, also refused ones, as server-sent events.',
    ),
    ...{ headers: ['Last-Event-ID'], answer: 'text/event-stream' },
    more: 'The events: [listening to calls](../operations.md#listening-to-calls).',
  },
  {
    ...route(
      'POST',
      '/dry-run',
      'Says to which channels a call would go, in which order, at which price, and why not to the others.',
    ),
    body: DryRunSchema,
    words: {
      api_key_id: 'The id of the API key that would send the call.',
      path: 'The path of the call, e.g. `/v1/chat/completions`.',
      body: 'The body of the call, with its model.',
      headers: 'Headers of the call that decide about it.',
    },
    more: 'The answer: [where would a call go?](../operations.md#where-would-a-call-go)',
  },
  route('GET', '/calls', 'Lists the calls of all organizations that run now.'),
  {
    ...route('GET', '/tasks', 'Lists the tasks of all organizations, the newest first.'),
    ...{ query: OperatorTaskQuerySchema, answer_schema: OperatorTaskListSchema },
  },
  {
    ...route('GET', '/books', 'Says whether the books balance: what is missing, and what is held.'),
    ...{ query: BooksQuerySchema, answer_schema: BooksSchema },
    more: 'What each sum means: [do the books balance?](../operations.md#do-the-books-balance)',
  },
  {
    ...route(
      'POST',
      '/provider-bills',
      'Imports what a provider bills for the account of a channel.',
    ),
    query: ImportBillSchema,
    more: 'The body is the answer of the provider’s own interface: [what providers bill](../operations.md#what-providers-bill).',
    words: { channel: 'The id of the channel. Required.', source: 'What the body is. Required.' },
  },
  {
    ...route(
      'GET',
      '/usage-reconciliation',
      'Compares what Weir recorded with what providers bill.',
    ),
    ...{ query: ReconcileSchema, answer_schema: ReconciliationSchema },
  },
];
