/**
 * A map with a limited number of entries. A full map evicts the entry that was used least recently.
 */
export class LruCache<Key, Value> {
  private readonly entries = new Map<Key, Value>();
  /** The key that was used last. Its entry is already at the end of the map. */
  private newest: Key | undefined;

  /** `onRemoved` is called for every entry that is evicted, replaced or deleted. */
  constructor(
    private readonly max_entries: number,
    private readonly onRemoved: (value: Value) => void = () => undefined,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: Key): Value | undefined {
    const value = this.entries.get(key);
    if (value === undefined || key === this.newest) return value;
    // A Map keeps the order of insertion. A used entry moves to the end.
    this.entries.delete(key);
    this.entries.set(key, value);
    this.newest = key;
    return value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.entries.set(key, value);
    this.newest = key;
    if (this.entries.size <= this.max_entries) return;
    for (const oldest of this.entries.keys()) {
      this.delete(oldest);
      return;
    }
  }

  /** The entries, in no certain order. Reading them is not a use. */
  values(): IterableIterator<Value> {
    return this.entries.values();
  }

  delete(key: Key): void {
    const value = this.entries.get(key);
    if (value === undefined) return;
    this.entries.delete(key);
    this.onRemoved(value);
  }

  clear(): void {
    for (const key of [...this.entries.keys()]) this.delete(key);
  }
}
