/** Values of a query. `undefined` is left out; an array is sent once for each value. */
export type Query = Readonly<
  Record<string, string | number | boolean | undefined | readonly string[]>
>;

/** Returns a path with its query. */
export function urlOf(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    for (const each of Array.isArray(value) ? value : [value]) parameters.append(name, `${each}`);
  }
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}
