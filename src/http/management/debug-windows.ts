import { Type } from '@sinclair/typebox';
import { type DebugEventRow, listDebugEvents } from '../../../db/debug/copies.ts';
import { type DebugWindowRow, findWindow, listWindows } from '../../../db/debug/windows.ts';
import { requestIdOf } from '../../errors/request-id.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import {
  type DebugWindows,
  MAX_ORGANIZATION_DEBUG_BYTES,
} from '../../inference/debug/debug-windows.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { changeOnce } from './change-once.ts';
import { admitManager } from './keys.ts';
import { listAnswer, PAGE_PARAMETERS, pageRequestOf, readQuery } from './list-query.ts';
import { uuidOf } from './usage/calls.ts';
import type { UsageDeps } from './usage/lines.ts';

const MAX_WINDOW_MINUTES = 24 * 60;
const DEFAULT_WINDOW_MINUTES = 60;
const MAX_KEEP_HOURS = 7 * 24;
const DEFAULT_KEEP_HOURS = 24;
const MIN_COPY_BYTES = 1024;
const DEFAULT_WINDOW_BYTES = 16 * 1024 * 1024;
const MAX_COPIED_BODY_BYTES = 4 * 1024 * 1024;
const DEFAULT_COPIED_BODY_BYTES = 256 * 1024;

const whole = (minimum: number, maximum: number) =>
  Type.Optional(
    Type.Integer({
      ...{ minimum, maximum },
      errorMessage: `must be a whole number from ${minimum} to ${maximum}`,
    }),
  );

/** `POST /v1/management/debug-windows` */
export const OpenWindowSchema = Type.Object(
  {
    /** Copies the calls of this key only. */
    api_key_id: Type.Optional(
      Type.Union([Type.String({ maxLength: 100, pattern: '^[^\\u0000]*$' }), Type.Null()], {
        errorMessage: 'must be the id of an API key, or null for all keys',
      }),
    ),
    minutes: whole(1, MAX_WINDOW_MINUTES),
    keep_hours: whole(1, MAX_KEEP_HOURS),
    max_bytes: whole(MIN_COPY_BYTES, MAX_ORGANIZATION_DEBUG_BYTES),
    max_body_bytes: whole(MIN_COPY_BYTES, MAX_COPIED_BODY_BYTES),
  },
  { additionalProperties: false },
);

const validateOpen = validator(OpenWindowSchema);
/** The lists of windows, and of who read copies. */
export const ListWindowsSchema = Type.Object(PAGE_PARAMETERS, { additionalProperties: false });
const validateList = validator(ListWindowsSchema);

/** Dependencies of the routes of debug windows. */
export interface DebugRouteDeps extends UsageDeps {
  /** The windows of this process. Missing if it copies no calls. */
  readonly debug?: (() => DebugWindows) | undefined;
}

/**
 * The routes of debug windows. An organization opens a window to have the requests and answers of its
 * calls copied for a while. Each query has the organization in its condition (P6).
 */
export class DebugWindowRoutes {
  constructor(private readonly deps: DebugRouteDeps) {}

  /** `POST /v1/management/debug-windows` */
  readonly open: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const counted = context.bytes.of(manager.organization_id);
    const read = await readJsonObject(context.request, counted, MAX_MANAGEMENT_BODY_BYTES);
    const body = validateOpen(read.value);
    const windows = windowsOf(this.deps);
    const { organization_id, actor } = manager;
    const route = 'debug_window.open';
    const request = { organization_id, actor_id: actor.id, route, body: read.text };
    const answer = await changeOnce(this.deps, context, request, async (tx) => {
      const opened = await windows.open(tx, manager, {
        key_id: body.api_key_id ?? null,
        minutes: body.minutes ?? DEFAULT_WINDOW_MINUTES,
        keep_hours: body.keep_hours ?? DEFAULT_KEEP_HOURS,
        max_bytes: body.max_bytes ?? DEFAULT_WINDOW_BYTES,
        max_body_bytes: body.max_body_bytes ?? DEFAULT_COPIED_BODY_BYTES,
      });
      if (typeof opened === 'string') throw refusal(opened);
      return json(windowRecord(opened));
    });
    await windows.spread(organization_id);
    return answer;
  };

  /** `GET /v1/management/debug-windows` */
  readonly list: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    const page = pageRequestOf(readQuery(context.request, validateList));
    const rows = await listWindows(this.deps.usage(), organization_id, page);
    return json(listAnswer(rows, ({ id }) => id, windowRecord));
  };

  /** `GET /v1/management/debug-windows/{id}` */
  readonly get: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    return json(windowRecord(await this.find(context, organization_id)));
  };

  /** `POST /v1/management/debug-windows/{id}/close`. A window that has ended stays as it is. */
  readonly close: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { id } = await this.find(context, manager.organization_id);
    await windowsOf(this.deps).close(manager, id);
    return json(windowRecord(await this.find(context, manager.organization_id)));
  };

  /** `GET /v1/management/debug-events`: who opened and closed windows, and who read which copy. */
  readonly listEvents: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    const page = pageRequestOf(readQuery(context.request, validateList));
    const rows = await listDebugEvents(this.deps.usage(), organization_id, page);
    return json(listAnswer(rows, ({ id }) => id, eventRecord));
  };

  /** `GET /v1/management/requests/{id}/debug`: the copy of one call. The reading goes on record. */
  readonly readCopy: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const id = uuidOf(context.params['id'] ?? '');
    const copy = id === undefined ? undefined : await windowsOf(this.deps).readCopy(manager, id);
    if (id === undefined || !copy) {
      throw new WeirError('not_found', 'Nothing is stored of this request.', {
        param: 'id',
        hint: 'Open a debug window before the call with POST /v1/management/debug-windows.',
      });
    }
    return json({
      object: 'debug_copy',
      request_id: requestIdOf(id),
      window_id: copy.window_id,
      api_key_id: copy.key_id,
      path: copy.path,
      status: copy.status,
      request: bodyRecord(copy.request_type, copy.request_body, copy.request_bytes),
      answer: bodyRecord(copy.answer_type, copy.answer_body, copy.answer_bytes),
      stored_at: copy.at.toISOString(),
      delete_at: copy.keep_until.toISOString(),
    });
  };

  private async find({ params }: RequestContext, organization_id: string): Promise<DebugWindowRow> {
    const id = params['id'] ?? '';
    // No id contains NUL, and PostgreSQL refuses a text with NUL.
    const row = id.includes('\u0000')
      ? undefined
      : await findWindow(this.deps.usage(), organization_id, id);
    if (row) return row;
    throw new WeirError('not_found', 'There is no such debug window.', { param: 'id' });
  }
}

function windowsOf({ debug }: DebugRouteDeps): DebugWindows {
  if (debug) return debug();
  throw new WeirError('service_unavailable', 'This process does not serve this route.');
}

function refusal(reason: 'no_key' | 'is_open' | 'no_room'): WeirError {
  switch (reason) {
    case 'no_key':
      return new WeirError('not_found', 'There is no such API key.', { param: 'api_key_id' });
    case 'is_open':
      return new WeirError('invalid_request', 'A debug window of these keys is already open.', {
        param: 'api_key_id',
        hint: 'Close the open window first, or wait until it ends.',
      });
    case 'no_room':
      return new WeirError(
        'invalid_request',
        `max_bytes is too large: all debug windows of an organization have at most ${MAX_ORGANIZATION_DEBUG_BYTES} bytes.`,
        { param: 'max_bytes', hint: 'Send less, or close an open window.' },
      );
    default:
      return reason satisfies never;
  }
}

function windowRecord(row: DebugWindowRow): object {
  return {
    object: 'debug_window',
    id: row.id,
    api_key_id: row.key_id,
    status: row.status,
    opened_at: row.opened_at.toISOString(),
    closes_at: row.closes_at.toISOString(),
    closed_at: row.closed_at?.toISOString() ?? null,
    delete_at: row.keep_until.toISOString(),
    max_bytes: row.max_bytes,
    max_body_bytes: row.max_body_bytes,
    stored_calls: row.stored_calls,
    stored_bytes: row.stored_bytes,
  };
}

function eventRecord(row: DebugEventRow): object {
  return {
    object: 'debug_event',
    id: row.id,
    action: row.action,
    window_id: row.window_id,
    token_id: row.token_id,
    request_id: row.request_id === null ? null : requestIdOf(row.request_id),
    at: row.at.toISOString(),
  };
}

/** Returns a body as text if its stored bytes are UTF-8, else in base64. */
function bodyRecord(content_type: string | null, stored: Uint8Array, bytes: number): object {
  const truncated = stored.byteLength < bytes;
  const text = textOf(stored, truncated);
  return {
    content_type,
    bytes,
    truncated,
    encoding: text === undefined ? 'base64' : 'utf8',
    body: text ?? Buffer.from(stored).toString('base64'),
  };
}

/** Returns the text of bytes; undefined if they are not UTF-8. The last character may be cut. */
function textOf(stored: Uint8Array, truncated: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(stored, { stream: truncated });
  } catch {
    return undefined;
  }
}
