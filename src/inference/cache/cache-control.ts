import { WeirError } from '../../errors/weir-error.ts';
import { isObject } from '../../json/object.ts';
import { type CacheControl, isOwnType, OWN_CONTROLS } from '../../protocols/cache-controls.ts';

/** The values of the vendors, which pass untouched (Anthropic docs: Prompt caching). */
const VENDOR_CONTROLS = ['ephemeral'];

/** The header with the same values, for clients that cannot add a member to the body. */
export const CACHE_CONTROL_HEADER = 'x-weir-cache-control';

/**
 * Returns what the client asks of the cache: in the body's `cache_control`, or else in the header.
 * Returns undefined if it asks for nothing, or only of the vendor's cache. Throws WeirError (400) for a
 * type that neither Weir nor a vendor defines.
 */
export function readCacheControl(
  body: Readonly<Record<string, unknown>>,
  header: string | null,
): CacheControl | undefined {
  const control = body['cache_control'];
  if (control !== undefined && control !== null) {
    const type = isObject(control) ? control['type'] : undefined;
    if (isOwnType(type)) return type;
    if (!VENDOR_CONTROLS.some((vendor) => vendor === type)) {
      throw unknownType('cache_control.type', [...OWN_CONTROLS, ...VENDOR_CONTROLS]);
    }
  }
  if (header === null) return undefined;
  if (isOwnType(header)) return header;
  throw unknownType(CACHE_CONTROL_HEADER, OWN_CONTROLS);
}

function unknownType(param: string, known: readonly string[]): WeirError {
  return new WeirError('invalid_request', `${param} must be one of ${known.join(', ')}.`, {
    param,
  });
}

/** True if the answer to a body is meant to be the same each time: it asks for no randomness. */
export function isDeterministic(body: Readonly<Record<string, unknown>>): boolean {
  if (isAboveZero(body['temperature'])) return false;
  const settings = body['generationConfig'] ?? body['generation_config'];
  return !isObject(settings) || !isAboveZero(settings['temperature']);
}

/** A temperature that is not a number at all is for the upstream to refuse. */
function isAboveZero(temperature: unknown): boolean {
  return temperature !== undefined && temperature !== null && Number(temperature) !== 0;
}
