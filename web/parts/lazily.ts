/**
 * Makes a value when it is first asked for, and keeps it. The first formatter of a page takes the browser about 25 ms,
 * so none is made while the first script runs.
 */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
