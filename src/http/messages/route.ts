import { WeirError } from '../../errors/weir-error.ts';
import { refuseForeignRoles, validateMessages } from '../../inference/requests/check-messages.ts';
import type { Handler, RequestContext } from '../endpoint.ts';
import { type InferenceRouteDeps, inferenceRoute } from '../inference-route.ts';

function precheck(context: RequestContext, body: Record<string, unknown>): void {
  requireVersion(context);
  refuseForeignRoles(body);
}

/** `POST /v1/messages` (spec: Messages). */
export function messages(deps: InferenceRouteDeps): Handler {
  return inferenceRoute(deps, {
    protocol: 'anthropic',
    path: '/v1/messages',
    family: 'native',
    validate: validateMessages,
    precheck,
    headers: nativeHeaders,
  });
}

/** The headers of a native call that go to the upstream. */
export function nativeHeaders(request: Request): Record<string, string> {
  const version = providerHeader(request, 'version');
  const beta = providerHeader(request, 'beta');
  return {
    ...(version ? { 'anthropic-version': version } : {}),
    ...(beta ? { 'anthropic-beta': beta } : {}),
  };
}

/**
 * Returns the value of the provider's header `anthropic-…`. The specification names the same header
 * `vendorA-…`.
 */
function providerHeader(request: Request, name: 'version' | 'beta'): string | null {
  return request.headers.get(`anthropic-${name}`) ?? request.headers.get(`vendorA-${name}`);
}

/** The versions of the provider's API (Anthropic docs: Versions). */
const VERSIONS = ['2023-01-01', '2023-06-01', '2026-10-21'];
const MAX_QUOTED_CHARS = 100;

/** Throws WeirError (400) if a native call has no version header, or an unknown version. */
export function requireVersion({ request }: RequestContext): void {
  const version = providerHeader(request, 'version');
  if (version && VERSIONS.includes(version)) return;
  const problem = version
    ? `"${version.slice(0, MAX_QUOTED_CHARS)}" is not a valid version.`
    : 'header is required.';
  throw new WeirError('invalid_request', `anthropic-version: ${problem}`, {
    param: 'anthropic-version',
    hint: 'Send the header anthropic-version: 2023-06-01.',
  });
}
