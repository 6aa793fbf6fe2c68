import type { Sql } from 'postgres';
import {
  deleteResponse,
  findResponse,
  type StoredResponse,
  storeResponse,
} from '../../../db/responses/responses.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { isKept } from '../../upstreams/translation/responses-answer.ts';
import { readApiKey } from '../auth/credentials.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { type InferenceRouteDeps, inferenceRoute, type PreparedBody } from '../inference-route.ts';
import { itemsOf } from './items.ts';
import { ResponsesRequestSchema } from './schema.ts';

export interface ResponsesDeps extends InferenceRouteDeps {
  /** Where answers are kept. */
  responses: () => Sql;
}

/** A chain of responses may not grow beyond what one request may hold. */
const MAX_ITEMS = 10_000;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** `POST /v1/responses` (OpenAI docs: Responses). What is not `store: false` is kept for 30 days. */
export function createResponse(deps: ResponsesDeps): Handler {
  return inferenceRoute(deps, {
    protocol: 'responses',
    allowXApiKey: false,
    validate: validator(ResponsesRequestSchema),
    prepare: (_, body, { organization_id }) => withItsPast(deps.responses(), body, organization_id),
  });
}

/** The items of the responses before this one come first; its instructions do not carry over. */
async function withItsPast(
  sql: Sql,
  body: Record<string, unknown>,
  organization_id: string,
): Promise<PreparedBody> {
  if (body['background'] === true) {
    throw new WeirError('invalid_request', 'background: responses are made while you wait.', {
      param: 'background',
      hint: 'Leave it out, or stream.',
    });
  }
  const previous = body['previous_response_id'];
  const items = itemsOf(body['input']);
  if (typeof previous === 'string') {
    const before = await findResponse(sql, previous, organization_id);
    if (!before) throw unknown(previous, 'previous_response_id', 400);
    items.unshift(...(before.input as object[]), ...outputOf(before));
  }
  if (items.length > MAX_ITEMS) {
    throw new WeirError(
      'invalid_request',
      `input: at most ${MAX_ITEMS} items in one conversation.`,
      {
        param: 'input',
      },
    );
  }
  const whole = { ...body, input: items };
  const kept = isKept(body);
  return {
    body: whole,
    body_text: JSON.stringify(whole),
    ...(kept
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
  return async (context) => json((await own(deps, context)).body);
}

/** `GET /v1/responses/{id}/input_items?limit=&order=&after=` */
export function listInputItems(deps: ResponsesDeps): Handler {
  return async (context) => {
    const { input } = await own(deps, context);
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
    const key = await admitted(deps, context);
    const id = idOf(context);
    const isGone = await deleteResponse(deps.responses(), id, key.organization_id);
    if (!isGone) throw unknown(id, 'response_id');
    return json({ id, object: 'response', deleted: true });
  };
}

/** `POST /v1/responses/{id}/cancel`: only what runs in the background can be cancelled. */
export function cancelResponse(deps: ResponsesDeps): Handler {
  return async (context) => {
    await own(deps, context);
    const message = 'Only a response that runs in the background can be cancelled.';
    throw new WeirError('invalid_request', message, { param: 'response_id' });
  };
}

async function own(deps: ResponsesDeps, context: RequestContext): Promise<StoredResponse> {
  const key = await admitted(deps, context);
  const id = idOf(context);
  const found = await findResponse(deps.responses(), id, key.organization_id);
  if (!found) throw unknown(id, 'response_id');
  return found;
}

async function admitted(deps: ResponsesDeps, { request }: RequestContext) {
  const key = await deps.keys.authenticate(readApiKey(request, false));
  await deps.rateLimit.consume(key);
  return key;
}

const MAX_ID_CHARS = 100;

function idOf({ params }: RequestContext): string {
  return (params['id'] ?? '').slice(0, MAX_ID_CHARS);
}

function unknown(id: string, param: string, status: 400 | 404 = 404): WeirError {
  const message = `Response with id '${id.slice(0, MAX_ID_CHARS)}' not found.`;
  return new WeirError(status === 404 ? 'not_found' : 'invalid_request', message, { param });
}
