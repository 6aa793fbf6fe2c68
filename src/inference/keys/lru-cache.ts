/** A map that forgets the entry that was longest unused when it is full. */
export class LruCache<Key, Value> {
  private readonly entries = new Map<Key, Value>();
  /** What was used last stands at the end already. */
  private newest: Key | undefined;

  /** `onLeave` is told of every entry that is pushed out or deleted. */
  constructor(
    private readonly max_entries: number,
    private readonly onLeave: (value: Value) => void = () => undefined,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: Key): Value | undefined {
    const value = this.entries.get(key);
    if (value === undefined || key === this.newest) return value;
    // A map keeps the order of insertion: what is used moves to its end.
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

  delete(key: Key): void {
    const value = this.entries.get(key);
    if (value === undefined) return;
    this.entries.delete(key);
    this.onLeave(value);
  }

  clear(): void {
    for (const key of [...this.entries.keys()]) this.delete(key);
  }
}
