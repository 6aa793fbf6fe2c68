import type { Sql } from 'postgres';
import {
  deleteResponse,
  findResponse,
  type StoredResponse,
  storeResponse,
} from '../../../db/responses/responses.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { exactBody } from '../../json/exact-integers.ts';
import { editMembers } from '../../json/members.ts';
import { mustStore } from '../../upstreams/translation/responses-answer.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { type InferenceRouteDeps, inferenceRoute, type PreparedBody } from '../inference-route.ts';
import { itemsOf } from './items.ts';
import { ResponsesRequestSchema } from './schema.ts';

/** Dependencies of the Responses routes. */
export interface ResponsesDeps extends InferenceRouteDeps {
  /** The database of stored responses. */
  responses: () => Sql;
}

/** The most items of a request, including those of the previous responses. */
const MAX_ITEMS = 10_000;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/**
 * `POST /v1/responses` (OpenAI docs: Responses). Unless `store` is false, Weir keeps the response
 * for 30 days.
 */
export function createResponse(deps: ResponsesDeps): Handler {
  return inferenceRoute(deps, {
    protocol: 'responses',
    path: '/v1/responses',
    validate: validator(ResponsesRequestSchema),
    prepare: (_, body, { organization_id }, text) =>
      withPreviousItems(deps.responses(), exactBody(body, text), text, organization_id),
  });
}

/**
 * Prepares the body: puts the items of the previous response before the items of the request.
 * Instructions of the previous response are not used (OpenAI docs: previous_response_id). Throws
 * WeirError for `background: true`, an unknown previous response, or too many items.
 */
async function withPreviousItems(
  sql: Sql,
  body: Readonly<Record<string, unknown>>,
  text: string,
  organization_id: string,
): Promise<PreparedBody> {
  if (body['background'] === true) {
    throw new WeirError('invalid_request', 'background: true is not supported.', {
      param: 'background',
      hint: 'Leave background out. For a long answer, send stream: true instead.',
    });
  }
  const previous = body['previous_response_id'];
  const items = itemsOf(body['input']);
  if (typeof previous === 'string') {
    const stored = await findResponse(sql, previous, organization_id);
    if (!stored) throw responseNotFound(previous, 'previous_response_id', 400);
    items.unshift(...(stored.input as object[]), ...outputOf(stored));
  }
  if (items.length > MAX_ITEMS) {
    throw new WeirError(
      'invalid_request',
      `input must have at most ${MAX_ITEMS} items, including those of the previous responses.`,
      {
        param: 'input',
      },
    );
  }
  const withItems = { ...body, input: items };
  return {
    body: withItems,
    body_text: editMembers(text, { input: JSON.stringify(items) }),
    ...(mustStore(body)
      ? {
          storeAnswer: (answer: object) => {
            const stored = answer as { id: string } & Record<string, unknown>;
            return storeResponse(sql, stored.id, organization_id, { body: stored, input: items });
          },
        }
      : {}),
  };
}

function outputOf({ body }: StoredResponse): object[] {
  return Array.isArray(body['output']) ? (body['output'] as object[]) : [];
}

/** `GET /v1/responses/{id}` */
export function getResponse(deps: ResponsesDeps): Handler {
  return async (context) => json((await requireResponse(deps, context)).body);
}

/** `GET /v1/responses/{id}/input_items?limit=&order=&after=` */
export function listInputItems(deps: ResponsesDeps): Handler {
  return async (context) => {
    const { input } = await requireResponse(deps, context);
    const query = new URL(context.request.url).searchParams;
    const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
      const message = `limit must be a whole number from 1 to ${MAX_LIMIT}.`;
      throw new WeirError('invalid_request', message, { param: 'limit' });
    }
    const items = input as { id: string }[];
    const ordered = query.get('order') === 'asc' ? items : items.toReversed();
    const after = ordered.findIndex(({ id }) => id === query.get('after'));
    const data = ordered.slice(after + 1, after + 1 + limit);
    return json({
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: after + 1 + limit < ordered.length,
    });
  };
}

/** `DELETE /v1/responses/{id}` */
export function removeResponse(deps: ResponsesDeps): Handler {
  return async (context) => {
    const key = await admit(deps, context);
    const id = idOf(context);
    const isGone = await deleteResponse(deps.responses(), id, key.organization_id);
    if (!isGone) throw responseNotFound(id, 'response_id');
    return json({ id, object: 'response', deleted: true });
  };
}

/** `POST /v1/responses/{id}/cancel`. Always refused, because no response runs in the background. */
export function cancelResponse(deps: ResponsesDeps): Handler {
  return async (context) => {
    await requireResponse(deps, context);
    const message =
      'Only a background response can be cancelled. Weir has no background responses.';
    throw new WeirError('invalid_request', message, { param: 'response_id' });
  };
}

async function requireResponse(
  deps: ResponsesDeps,
  context: RequestContext,
): Promise<StoredResponse> {
  const key = await admit(deps, context);
  const id = idOf(context);
  const found = await findResponse(deps.responses(), id, key.organization_id);
  if (!found) throw responseNotFound(id, 'response_id');
  return found;
}

async function admit(deps: ResponsesDeps, context: RequestContext) {
  const key = await deps.authentication.requireKey(context, 'responses');
  await deps.rateLimit.consume(key, context);
  return key;
}

const MAX_ID_CHARS = 100;

function idOf({ params }: RequestContext): string {
  return (params['id'] ?? '').slice(0, MAX_ID_CHARS);
}

function responseNotFound(id: string, param: string, status: 400 | 404 = 404): WeirError {
  const message = `Response with id '${id.slice(0, MAX_ID_CHARS)}' not found.`;
  return new WeirError(status === 404 ? 'not_found' : 'invalid_request', message, { param });
}
