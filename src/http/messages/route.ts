import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { Handler, RequestContext } from '../endpoint.ts';
import { type InferenceRouteDeps, inferenceRoute } from '../inference-route.ts';
import { requireImageSources } from './images.ts';
import { MessagesRequestSchema } from './schema.ts';

/** Roles that belong to the other chat route (spec: Messages, Rules). */
const FOREIGN_ROLES = ['system', 'developer', 'tool'];

const validate = validator(MessagesRequestSchema);

function validateBody(value: Record<string, unknown>) {
  const body = validate(value);
  requireImageSources(body.messages);
  return body;
}

function precheck(context: RequestContext, body: Record<string, unknown>): void {
  requireVersion(context);
  refuseForeignRoles(body);
}

/** What every body of messages must be. Throws WeirError (400) naming the parameter. */
export function checkMessages(body: Record<string, unknown>): void {
  refuseForeignRoles(body);
  validateBody(body);
}

/** `POST /v1/messages` (spec: Messages). */
export function messages(deps: InferenceRouteDeps): Handler {
  return inferenceRoute(deps, {
    protocol: 'anthropic',
    allowXApiKey: true,
    validate: validateBody,
    precheck,
    headers: nativeHeaders,
  });
}

/** The headers that a native call carries on. */
export function nativeHeaders(request: Request): Record<string, string> {
  const version = vendorHeader(request, 'version');
  const beta = vendorHeader(request, 'beta');
  return {
    ...(version ? { 'anthropic-version': version } : {}),
    ...(beta ? { 'anthropic-beta': beta } : {}),
  };
}

/** The vendor's header, or the neutral name of the specification (design 8). */
function vendorHeader(request: Request, name: 'version' | 'beta'): string | null {
  return request.headers.get(`anthropic-${name}`) ?? request.headers.get(`vendorA-${name}`);
}

/** Throws WeirError (400) where a native call does not say which version it speaks. */
export function requireVersion({ request }: RequestContext): void {
  if (vendorHeader(request, 'version')) return;
  throw new WeirError('invalid_request', 'anthropic-version: header is required.', {
    param: 'anthropic-version',
    hint: 'Send the header anthropic-version: 2023-06-01.',
  });
}

/** The wording is what clients look for to try again without such a message (contracts 0). */
function refuseForeignRoles(body: Record<string, unknown>): void {
  const list = Array.isArray(body['messages']) ? body['messages'] : [];
  const index = list.findIndex((message) => FOREIGN_ROLES.includes(message?.role));
  if (index < 0) return;
  const role = String(list[index].role);
  const advice =
    role === 'system'
      ? 'put it in the top-level system field, or use /v1/chat/completions'
      : 'use /v1/chat/completions';
  throw new WeirError(
    'invalid_request',
    `role '${role}' is not supported on this model: ${advice}`,
    {
      param: `messages.${index}.role`,
    },
  );
}
