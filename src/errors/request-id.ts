/** Returns the id by which clients know a request. `uuid` is the request's id inside Weir. */
export function requestIdOf(uuid: string): string {
  return `req_${uuid.replaceAll('-', '')}`;
}
