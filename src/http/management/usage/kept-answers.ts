import { LruCache } from '../../../inference/keys/lru-cache.ts';

/** The most answers. The one that was used least recently leaves first. */
const MAX_ANSWERS = 200;
/** Longer answers are not kept, so that all together have at most 20 MB. */
const MAX_CHARS = 100_000;
/** Pages that follow the same events read the same state within seconds. */
const KEEP_MS = 30_000;

interface Kept {
  readonly until_ms: number;
  readonly answer: Promise<string>;
}

/**
 * Keeps the answers to questions about named states for a while. Such an answer never changes, because rows
 * of usage never do; so it may be given to everybody who asks the same.
 */
export class KeptAnswers {
  private readonly answers = new LruCache<string, Kept>(MAX_ANSWERS);

  /** Returns the answer of this name. At most one `read` of a name runs at a time; a failed one is not kept. */
  run(name: string, read: () => Promise<string>): Promise<string> {
    const known = this.answers.get(name);
    if (known && known.until_ms > performance.now()) return known.answer;
    const answer = read();
    const kept = { until_ms: performance.now() + KEEP_MS, answer };
    this.answers.set(name, kept);
    const forget = () => {
      if (this.answers.get(name) === kept) this.answers.delete(name);
    };
    answer.then((text) => {
      if (text.length > MAX_CHARS) forget();
    }, forget);
    return answer;
  }
}
