/** Returns the id by which clients know a request. `uuid` is the request's id inside Weir. */
export function requestIdOf(uuid: string): string {
  return `req_${withoutDashes(uuid)}`;
}

const DASHES = /-/g;

/** Returns the 32 digits of a UUID. A pattern makes one text; joined slices were nine. */
export function withoutDashes(uuid: string): string {
  return uuid.replace(DASHES, '');
}
