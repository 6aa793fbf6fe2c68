import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { requireImageSources } from './messages-images.ts';
import { MessagesRequestSchema } from './messages-schema.ts';

/** Roles that only `/v1/chat/completions` accepts (spec: Messages, Rules). */
const FOREIGN_ROLES = ['system', 'developer', 'tool'];

const validate = validator(MessagesRequestSchema);

/**
 * Validates a body of `POST /v1/messages` against the schema, and checks its image sources. Throws
 * WeirError (400) that names the parameter.
 */
export function validateMessages(value: Record<string, unknown>) {
  const body = validate(value);
  refuseThread(value['thread']);
  requireImageSources(body.messages);
  return body;
}

/**
 * Runs all checks of a body of `POST /v1/messages`. Throws WeirError (400) that names the
 * parameter.
 */
export function checkMessages(body: Record<string, unknown>): void {
  refuseForeignRoles(body);
  validateMessages(body);
}

/**
 * Throws WeirError (400) for a message with a role that this route does not accept. Clients
 * recognize the error by its wording, and retry without such a message. So the wording must not
 * change.
 */
export function refuseForeignRoles(body: Record<string, unknown>): void {
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

/**
 * Throws WeirError (400) for a conversation that the provider would store. Each call carries the
 * whole conversation, so that any channel can serve it. Anthropic's packages read the details, and
 * continue without a thread (@anthropic-ai/sdk 1.11.0, lib/internal/threads/ThreadState).
 */
function refuseThread(thread: unknown): void {
  if (thread === undefined || thread === null) return;
  throw new WeirError('invalid_request', 'thread is not supported.', {
    param: 'thread',
    hint: 'Leave thread out, and send all messages of the conversation.',
    details: { error_code: 'thread_unsupported_request', unsupported: [] },
  });
}
