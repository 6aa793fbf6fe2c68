const ID = /^(?:ce|req)_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/**
 * Returns the UUID of the request that an entry id (`ce_…`) or a request id (`req_…`) names; undefined for
 * any other text.
 */
export function uuidOfEntry(id: string): string | undefined {
  return ID.exec(id)?.slice(1).join('-');
}
