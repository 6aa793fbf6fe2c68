import { BatchListSchema, BatchQuerySchema } from '../../src/http/management/batches.ts';
import { DeliveryListSchema, DeliveryQuerySchema } from '../../src/http/management/deliveries.ts';
import { TaskListSchema, TaskQuerySchema } from '../../src/http/management/tasks.ts';
import { BillingSchema } from '../../src/http/management/usage/billing.ts';
import { ListRequestsSchema } from '../../src/http/management/usage/calls.ts';
import { ExploreSchema } from '../../src/http/management/usage/explore.ts';
import {
  UsageQueriesSchema,
  UsageQuerySchema,
} from '../../src/http/management/usage/explore-answer.ts';
import { ExploreSeveralSchema } from '../../src/http/management/usage/explore-several.ts';
import { ExportUsageSchema } from '../../src/http/management/usage/export.ts';
import { UsageLinesSchema } from '../../src/http/management/usage/lines.ts';
import type { ReferenceRoute } from './route.ts';

const route = (method: ReferenceRoute['method'], path: string, says: string): ReferenceRoute => ({
  ...{ method, path: `/v1/management${path}`, says, caller: 'organization' },
});

/** The routes that show what an organization called, and what it cost. */
export const USAGE_ROUTES: readonly ReferenceRoute[] = [
  {
    ...route('GET', '/usage', 'Lists the charges of the organization, the newest first.'),
    query: UsageLinesSchema,
    more: 'Lines, dates and sums: [usage and billing](../operations.md#usage-and-billing).',
  },
  {
    ...route('GET', '/usage/query', 'Sums one metric of usage by groups and by buckets of time.'),
    ...{ query: ExploreSchema, answer_schema: UsageQuerySchema },
  },
  {
    ...route('GET', '/usage/queries', 'Answers several queries of usage, all of the same instant.'),
    ...{ query: ExploreSeveralSchema, answer_schema: UsageQueriesSchema },
  },
  {
    ...route(
      'GET',
      '/usage/export',
      'Exports all charges, the oldest first, as CSV or as one JSON object a line.',
    ),
    ...{ query: ExportUsageSchema, answer: 'text/csv' },
    words: {
      organization_id: 'The organization of a person who is in several. A link sends no header.',
    },
  },
  {
    ...route(
      'GET',
      '/billing',
      'Sums the charges by day, model, vendor, scene and access channel.',
    ),
    query: BillingSchema,
  },
  {
    ...route(
      'GET',
      '/api-keys/{keyId}/usage',
      'Lists the charges of one API key, the newest first.',
    ),
    query: UsageLinesSchema,
  },
  {
    ...route('GET', '/api-keys/{keyId}/billing', 'Sums the charges of one API key.'),
    query: BillingSchema,
  },
  route('GET', '/statements/{month}', 'Shows the deposits and charges of a calendar month (UTC).'),
  {
    ...route(
      'GET',
      '/requests',
      'Lists all calls, also those that were refused, failed or were free.',
    ),
    query: ListRequestsSchema,
  },
  route(
    'GET',
    '/requests/{id}',
    'Shows one call with its timeline and the arithmetic of its charge.',
  ),
  route('GET', '/calls', 'Lists the calls that run now, with the money that they hold.'),
  {
    ...route('GET', '/events', 'Sends what happens in the organization as server-sent events.'),
    ...{ headers: ['Last-Event-ID'], answer: 'text/event-stream' },
  },
  {
    ...route('GET', '/tasks', 'Lists the tasks of the organization, the newest first.'),
    ...{ query: TaskQuerySchema, answer_schema: TaskListSchema },
    more: 'Lists and cancellation: [lists](../operations.md#lists).',
  },
  route('GET', '/tasks/{id}', 'Shows a task with its money.'),
  route('POST', '/tasks/{id}/cancel', 'Cancels a task, and refunds it if that is certain.'),
  {
    ...route('GET', '/batches', 'Lists the message batches, the newest first.'),
    ...{ query: BatchQuerySchema, answer_schema: BatchListSchema },
  },
  route('GET', '/batches/{id}', 'Shows a message batch with its progress and its cost so far.'),
  {
    ...route(
      'GET',
      '/batches/{id}/results',
      'Returns the results of an ended batch, one JSON object a line.',
    ),
    answer: 'application/x-jsonl',
  },
  route('POST', '/batches/{id}/cancel', 'Cancels the items of a batch that have not started.'),
  {
    ...route(
      'GET',
      '/webhook-deliveries',
      'Lists the webhooks of ended tasks with their attempts.',
    ),
    ...{ query: DeliveryQuerySchema, answer_schema: DeliveryListSchema },
  },
  route('POST', '/webhook-deliveries/{id}/redeliver', 'Sends a webhook again.'),
];
