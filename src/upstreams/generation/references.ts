/**
 * Returns the references of a list and a single reference as one list; undefined if there are none.
 */
export function together(
  list: readonly string[] = [],
  single?: string,
): readonly string[] | undefined {
  const all = single === undefined ? list : [...list, single];
  return all.length === 0 ? undefined : all;
}
