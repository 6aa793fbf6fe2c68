import { hashText, numberAt } from './random.ts';

/** Faults that a test sets for one account. They last until the test resets them. */
export interface AccountControl {
  /** The wait before every answer of a model, and before OpenAI's list of models; a directive's `latency_ms` overrides it. */
  latency_ms?: number;
  /** The share of calls that fail with `status`, 0 to 1. A repeated run fails the same calls. */
  fail_rate?: number;
  /**
   * The HTTP status of failing calls. Without `fail_rate`, every call fails with this status. With
   * `fail_rate`, the default is 500.
   */
  status?: number;
  /** Whole seconds of the `Retry-After` header that is sent with `status`. */
  retry_after?: number;
  /** True if connections are reset. */
  down?: boolean;
  /** True if the key is refused with 401. */
  revoked?: boolean;
  /** The largest number of parallel calls. Further calls get 429. */
  max_concurrency?: number;
}

export interface Account {
  readonly id: string;
  control: AccountControl;
  /** Calls since the control was set. `fail_rate` selects failing calls by this count and `id`. */
  calls: number;
  running: number;
}

/** The prefix of every key. The rest of a key is the account, by convention the id of a channel. */
const KEY_PREFIX = 'sim-';

const MAX_ACCOUNTS = 10_000;
const DEFAULT_FAILURE_STATUS = 500;
const NUMBERS = 2 ** 32;

const KINDS: Record<keyof AccountControl, 'number' | 'boolean'> = {
  latency_ms: 'number',
  fail_rate: 'number',
  status: 'number',
  retry_after: 'number',
  down: 'boolean',
  revoked: 'boolean',
  max_concurrency: 'number',
};

/** Finds accounts by key or id. An account exists as soon as a client uses its key. */
export class Accounts {
  readonly #accounts = new Map<string, Account>();

  /** The account of a key; undefined for a key without the prefix. */
  findByKey(key: string): Account | undefined {
    if (!key.startsWith(KEY_PREFIX) || key.length === KEY_PREFIX.length) return undefined;
    return this.get(key.slice(KEY_PREFIX.length));
  }

  get(id: string): Account {
    const known = this.#accounts.get(id);
    if (known !== undefined) return known;
    if (this.#accounts.size >= MAX_ACCOUNTS) this.#forgetOne();
    const account: Account = { id, control: {}, calls: 0, running: 0 };
    this.#accounts.set(id, account);
    return account;
  }

  /** Replaces an account's control. @throws {TypeError} that names the unknown or wrong member. */
  set(id: string, control: unknown): Account {
    const checked = checkedControl(control);
    return Object.assign(this.get(id), { control: checked, calls: 0 });
  }

  reset(id: string): Account {
    return Object.assign(this.get(id), { control: {}, calls: 0 });
  }

  all(): Account[] {
    return [...this.#accounts.values()];
  }

  /** Removes one idle account without a control. Calls in flight keep their account object. */
  #forgetOne(): void {
    for (const account of this.#accounts.values()) {
      if (account.running > 0 || Object.keys(account.control).length > 0) continue;
      this.#accounts.delete(account.id);
      return;
    }
  }
}

/** The status with which the control fails the n-th call; undefined if the call passes. */
export function controlledFailure(account: Account, nth: number): number | undefined {
  const { fail_rate, status } = account.control;
  if (fail_rate === undefined) return status;
  const chance = numberAt(hashText(account.id), nth) / NUMBERS;
  return chance < fail_rate ? (status ?? DEFAULT_FAILURE_STATUS) : undefined;
}

function checkedControl(control: unknown): AccountControl {
  if (typeof control !== 'object' || control === null) throw new TypeError('not an object');
  for (const [key, value] of Object.entries(control)) {
    if (!Object.hasOwn(KINDS, key)) throw new TypeError(`unknown member '${key}'`);
    const kind = KINDS[key as keyof AccountControl];
    if (typeof value !== kind) throw new TypeError(`'${key}' is not a ${kind}`);
  }
  return control;
}
