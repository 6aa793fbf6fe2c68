/** What a request may ask of Weir's cache (spec: Cache controls). No upstream knows these values. */
import { isObject } from '../json/object.ts';

/** The values of `cache_control.type` that Weir defines. */
export const OWN_CONTROLS = ['no_cache', 'no_store', 'response_only', 'semantic_only'] as const;
export type CacheControl = (typeof OWN_CONTROLS)[number];

/** True if a type is one of Weir's. */
export function isOwnType(type: unknown): type is CacheControl {
  return OWN_CONTROLS.some((own) => own === type);
}

/** True if a `cache_control` is Weir's, and not the vendor's. */
export function isOwnControl(control: unknown): boolean {
  return isObject(control) && isOwnType(control['type']);
}
