import type { Sql } from 'postgres';
import { storeTokenUses } from '../../../db/tokens.ts';
import type { Clock } from '../../actors/clock.ts';

/** How often the uses of tokens are stored. */
const STORE_MS = 60_000;

interface TokenUsesDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Notes when management and operator tokens are used, and stores that once a minute: a write for each
 * request would cost more than the request.
 */
export class TokenUses {
  /** The time of the last use by token, ms. */
  private noted = new Map<string, number>();
  private stopClock: () => void = () => undefined;
  private storing: Promise<void> | undefined;

  constructor(private readonly deps: TokenUsesDeps) {}

  /** Notes that a token is used now. */
  note(token_id: string): void {
    this.noted.set(token_id, this.deps.clock.now());
  }

  /** Stores the uses every minute. */
  start(): void {
    this.stopClock = this.deps.clock.after(STORE_MS, () => {
      this.storing = this.store()
        .catch(this.deps.onError)
        .finally(() => this.start());
    });
  }

  /** Stores the uses that were noted since the last time. If that fails, they are kept. */
  async store(): Promise<void> {
    const uses = this.noted;
    if (uses.size === 0) return;
    this.noted = new Map();
    const now = this.deps.clock.now();
    try {
      const ages = [...uses].map(([id, at_ms]) => ({ id, age_ms: now - at_ms }));
      await storeTokenUses(this.deps.sql, ages);
    } catch (error) {
      this.noted = new Map([...uses, ...this.noted]);
      throw error;
    }
  }

  /** Stores the last uses, and ends. */
  async stop(): Promise<void> {
    this.stopClock();
    await this.storing;
    this.stopClock();
    await this.store().catch(this.deps.onError);
  }
}
