import { WeirError } from '../errors/weir-error.ts';

/** Throws the error of a route whose parts this process does not have. */
export function notServedHere(): never {
  throw new WeirError('service_unavailable', 'This process does not serve this route.');
}
