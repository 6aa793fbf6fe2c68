import { hashText, numberAt } from './random.ts';

/** What a chaos test does to one account, until it is reset. Every member is optional. */
export interface AccountControl {
  /** Before every answer; a directive's `latency_ms` wins. */
  latency_ms?: number;
  /** 0..1: this part of the calls fails with `status`, in an order that is always the same. */
  fail_rate?: number;
  /** Without a `fail_rate`: of every call. With it: 500 unless given. */
  status?: number;
  /** Whole seconds, beside `status`. */
  retry_after?: number;
  /** Connections are reset. */
  down?: boolean;
  /** The key is refused with 401. */
  revoked?: boolean;
  /** More calls than this at once are refused with 429. */
  max_concurrency?: number;
}

export interface Account {
  readonly id: string;
  control: AccountControl;
  /** Calls since the control was set: which of them fail depends on this count only. */
  calls: number;
  running: number;
}

/** What every key starts with; the rest is the account, by custom the id of a channel. */
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

/** The accounts that were heard of: an account exists as soon as somebody uses its key. */
export class Accounts {
  readonly #accounts = new Map<string, Account>();

  /** The account of a key, undefined for a key that no account has. */
  ofKey(key: string): Account | undefined {
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

  /** Replaces what is in force. @throws {TypeError} naming the member that is unknown or wrong. */
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

  /** Calls in flight keep their account object, so only idle ones without a control may go. */
  #forgetOne(): void {
    for (const account of this.#accounts.values()) {
      if (account.running > 0 || Object.keys(account.control).length > 0) continue;
      this.#accounts.delete(account.id);
      return;
    }
  }
}

/** The status that an account's control gives to its n-th call, undefined to let it pass. */
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
