/**
 * Ledger commands of keys and tags with budgets, while the database's clock crosses days, months and changes of clocks.
 * A model adds up what was reserved on which day, by JavaScript's calendar; each window must have these sums, and
 * never more than its limit (P2).
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type BudgetPeriod, windowStart } from '../../../db/budgets/calendar.ts';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { systemIdSource } from '../../../src/actors/clock.ts';
import type { LedgerCommand } from '../../../src/actors/money/ledger-commands.ts';
import { isInWindow, makeBudget, readWindows, setDatabaseClock } from '../../support/budgets.ts';
import {
  type Account,
  grant,
  hold,
  line,
  openLedger,
  type TestLedger,
} from '../../support/ledger.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(300_000);

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger('single');
});
afterAll(() => ledger.close());

const HOUR_MS = 3_600_000;
/** Shortly before turns of days, weeks, months and years, and changes of clocks, in each of the zones. */
const STARTS = [
  ['UTC', '2026-12-31T20:00:00Z'],
  ['Europe/Berlin', '2026-03-28T20:00:00Z'],
  ['Europe/Berlin', '2026-10-24T20:00:00Z'],
  ['America/New_York', '2026-10-31T22:00:00Z'],
  ['America/Havana', '2021-11-06T22:00:00Z'],
  ['America/Sao_Paulo', '2018-11-03T22:00:00Z'],
  ['Asia/Kolkata', '2027-02-28T12:00:00Z'],
] as const;

/** Whose money it is: that of a key, for calls with some tags. */
interface Money {
  readonly key: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** What a budget limits: a key, all keys (null), or a tag. */
const SCOPES = [0, 1, null, ['team', 'blue'], ['env', 'prod']] as const;
type Scope = (typeof SCOPES)[number];

function isLimited(scope: Scope, { key, tags }: Money): boolean {
  if (scope === null || typeof scope === 'number') return scope === null || scope === key;
  return tags[scope[0]] === scope[1];
}

/** Money that was set aside on a day, as the model believes it to be. */
interface Reserved extends Money {
  readonly id: string;
  readonly day: string;
  granted: number;
  settled: number;
  isOpen: boolean;
}

const amount = fc.integer({ min: 0, max: 60 });
const tags = fc.constantFrom<Money['tags']>({}, { team: 'blue' }, { env: 'prod', team: 'blue' });
const step = fc.oneof(
  fc.record({
    type: fc.constant('wait' as const),
    hours: fc.double({ min: 0, max: 30, noNaN: true }),
  }),
  fc.record({ type: fc.constant('grant' as const), key: fc.nat(1), tags, pick: fc.nat(5), amount }),
  fc.record({ type: fc.constant('extend' as const), pick: fc.nat(20), amount }),
  fc.record({ type: fc.constant('settle' as const), pick: fc.nat(20), amount, uncharged: amount }),
  fc.record({
    type: fc.constant('return' as const),
    pick: fc.nat(20),
    amount,
    close: fc.boolean(),
  }),
  fc.record({
    ...{ type: fc.constant('hold' as const), key: fc.nat(1), tags, amount },
    stop_at_soft: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('settle hold' as const),
    pick: fc.nat(20),
    amount,
    uncharged: amount,
  }),
  fc.record({ type: fc.constant('release hold' as const), pick: fc.nat(20) }),
  fc.record({
    type: fc.constant('budget' as const),
    scope: fc.constantFrom<Scope>(...SCOPES),
    period: fc.constantFrom<BudgetPeriod>('day', 'week', 'month'),
    limit: fc.integer({ min: 0, max: 300 }),
    choice: fc.constantFrom('refuse' as const, 'warn' as const, 'move' as const),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class World {
  readonly grants: Reserved[] = [];
  readonly holds: Reserved[] = [];
  readonly budgets: {
    id: string;
    scope: Scope;
    period: BudgetPeriod;
    limit: number;
    is_soft: boolean;
  }[] = [];
  private readonly format: Intl.DateTimeFormat;

  constructor(
    readonly keys: readonly Account[],
    zone: string,
    private now_ms: number,
  ) {
    this.format = new Intl.DateTimeFormat('en-CA', { timeZone: zone });
  }

  private get today(): string {
    return this.format.format(this.now_ms);
  }

  private account(key: number): Account {
    return this.keys[key] as Account;
  }

  private submit(command: LedgerCommand) {
    return ledger.lane.submit(command);
  }

  async run(each: Step): Promise<void> {
    const { sql } = ledger.database;
    switch (each.type) {
      case 'wait':
        this.now_ms += Math.round(each.hours * HOUR_MS);
        return setDatabaseClock(sql, this.now_ms);
      case 'grant':
        return this.grant(each);
      case 'extend': {
        const of = at(this.grants, each.pick);
        if (!of?.isOpen) return;
        const request = { ...this.request(of, each.amount), in_flight: true };
        const answer = await this.submit(request);
        if (answer.type === 'granted') of.granted = answer.granted;
        return;
      }
      case 'settle': {
        const of = at(this.grants, each.pick);
        if (!of?.isOpen) return;
        const counted = Math.min(each.amount, of.granted - of.settled);
        const charged = Math.max(0, counted - each.uncharged);
        const usage = line(this.account(of.key), charged);
        const more = counted === charged ? {} : { counted_nano_usd: counted };
        await this.submit({ type: 'SETTLE', line: { ...usage, ...more, grant_id: of.id } });
        of.settled += counted;
        return;
      }
      case 'return': {
        const of = at(this.grants, each.pick);
        if (!of?.isOpen) return;
        const returned = Math.min(each.amount, of.granted - of.settled);
        const answer = await this.submit({
          ...{ type: 'RETURN', ...this.account(of.key), grant_id: of.id, recall_acked: 0 },
          ...{ expected_granted: of.granted, amount: returned, close: each.close },
        });
        if (answer.type !== 'returned') return;
        of.granted -= returned;
        of.isOpen = !answer.closed;
        return;
      }
      case 'hold': {
        const id = systemIdSource.uuid();
        const { stop_at_soft } = each;
        const command = {
          ...hold(this.account(each.key), each.amount, id),
          ...(isTagged(each) ? { tags: each.tags } : {}),
          stop_at_soft,
        };
        const over = this.reached(each, each.amount);
        const answer = await this.submit(command);
        if (answer.type === 'over_soft') {
          expect(stop_at_soft).toBe(true);
          expect(idsOf(answer.reached)).toEqual(over);
        }
        if (answer.type !== 'held') return;
        if (stop_at_soft) expect(over).toEqual([]);
        const { key, tags, amount: granted } = each;
        this.holds.push({
          ...{ id, key, tags, granted, settled: 0 },
          day: this.today,
          isOpen: true,
        });
        return;
      }
      case 'settle hold': {
        const of = at(this.holds, each.pick);
        if (!of?.isOpen) return;
        const counted = Math.min(each.amount, of.granted);
        const charged = Math.max(0, counted - each.uncharged);
        const more = counted === charged ? {} : { counted_nano_usd: counted };
        const usage = { ...line(this.account(of.key), charged), ...more };
        await this.submit({ type: 'SETTLE_HOLD', hold_id: of.id, line: usage });
        Object.assign(of, { granted: counted, settled: counted, isOpen: false });
        return;
      }
      case 'release hold': {
        const of = at(this.holds, each.pick);
        if (!of?.isOpen) return;
        await this.submit({ type: 'RELEASE_HOLD', hold_id: of.id });
        Object.assign(of, { granted: 0, isOpen: false });
        return;
      }
      case 'budget': {
        const { scope, period, limit, choice } = each;
        if (this.budgets.some((one) => one.scope === scope && one.period === period)) return;
        const { organization_id } = this.account(0);
        const key_id = typeof scope === 'number' ? this.account(scope).key_id : null;
        const tag = typeof scope === 'object' && scope ? scope : undefined;
        const id = await makeBudget(sql, { organization_id, key_id, tag }, period, limit, {
          ...{ when_reached: choice, move_to: choice === 'move' ? 'another-model' : null },
        });
        this.budgets.push({ id, scope, period, limit, is_soft: choice !== 'refuse' });
        return;
      }
      default:
        return each satisfies never;
    }
  }

  private request(of: Pick<Reserved, 'key' | 'tags' | 'id' | 'granted'>, need: number) {
    const tags = isTagged(of) ? { tags: of.tags } : {};
    return { ...grant(this.account(of.key), need, of.id), ...tags, expected_granted: of.granted };
  }

  private async grant(each: Extract<Step, { type: 'grant' }>): Promise<void> {
    const { key, tags } = each;
    const earlier = this.grants.filter((one) => one.key === key && one.isOpen)[each.pick];
    const fresh: Reserved = {
      ...{ id: systemIdSource.uuid(), key, tags, day: this.today, granted: 0, settled: 0 },
      isOpen: true,
    };
    const of = earlier ?? fresh;
    const answer = await this.submit(this.request(of, each.amount));
    if (answer.type !== 'granted') return;
    if (of.day === this.today) expect(answer.ends_in_ms).toBeGreaterThan(0);
    // A grant of a day that has ended gets no money for new calls.
    else expect(answer).toMatchObject({ granted: of.granted, ends_in_ms: 0 });
    of.granted = answer.granted;
    if (!earlier && of.granted > 0) this.grants.push(of);
    // The windows of a grant are those of its day.
    if (of.day === this.today) expect(idsOf(answer.reached)).toEqual(this.reached(of, 0));
  }

  /** The soft budgets of money that are exceeded if `more` is reserved today. */
  private reached(money: Money, more: number): string[] {
    const totals = this.totals();
    return this.budgets
      .filter((each) => each.is_soft && isLimited(each.scope, money))
      .filter(({ id, limit }) => (totals.get(id) ?? 0) + more > limit)
      .map(({ id }) => id)
      .sort();
  }

  /** Compares each window with what the model reserved in it. */
  async check(): Promise<void> {
    const { sql } = ledger.database;
    const { organization_id } = this.account(0);
    for (const { budget_id, starts_on, used, held } of await readWindows(sql, organization_id)) {
      const budget = this.budgets.find(({ id }) => id === budget_id);
      if (!budget) throw new Error('a budget that the model does not know');
      const inside = [...this.grants, ...this.holds].filter(
        (one) => isLimited(budget.scope, one) && isInWindow(budget.period, starts_on, one.day),
      );
      // A closed grant keeps what it settled.
      const sum = inside.reduce((all, { granted }) => all + granted, 0);
      const settled = inside.reduce((all, one) => all + one.settled, 0);
      expect({ starts_on, sum: used + held }).toEqual({ starts_on, sum });
      expect(used).toBeLessThanOrEqual(settled);
    }
    expect(await findImbalances(sql)).toEqual([]);
  }

  /** What is reserved in the windows of today, of each budget. */
  totals(): Map<string, number> {
    return new Map(
      this.budgets.map((budget) => {
        const inside = [...this.grants, ...this.holds].filter(
          (one) =>
            isLimited(budget.scope, one) &&
            isInWindow(budget.period, windowStart(budget.period, this.today), one.day),
        );
        return [budget.id, inside.reduce((all, { granted }) => all + granted, 0)];
      }),
    );
  }
}

const isTagged = ({ tags }: Pick<Money, 'tags'>) => Object.keys(tags).length > 0;
const idsOf = (reached: readonly { id: string }[] = []) => reached.map(({ id }) => id).sort();

const at = <T>(list: readonly T[], pick: number): T | undefined =>
  list.length === 0 ? undefined : list[pick % list.length];

test('P2: each window has what was reserved in it, no command takes more than a hard limit, and each answer names the soft ones that are exceeded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...STARTS),
      fc.array(step, { minLength: 10, maxLength: 60 }),
      async ([zone, start], steps) => {
        const { sql } = ledger.database;
        const now_ms = Date.parse(start);
        await setDatabaseClock(sql, now_ms);
        const first = await ledger.account();
        const second = await addKey(first);
        await sql`update organization set time_zone = ${zone} where id = ${first.organization_id}`;
        const world = new World([first, second], zone, now_ms);
        for (const each of steps) {
          const before = world.totals();
          await world.run(each);
          if (each.type === 'wait' || each.type === 'budget') continue;
          for (const [id, total] of world.totals()) {
            const { limit = 0, is_soft } = world.budgets.find((budget) => budget.id === id) ?? {};
            if (is_soft) continue;
            expect(total).toBeLessThanOrEqual(Math.max(limit, before.get(id) ?? 0));
          }
          await world.check();
        }
      },
    ),
    { numRuns: 40 },
  );
});

/** Adds a second key to the organization of an account. */
async function addKey(of: Account): Promise<Account> {
  const id = crypto.randomUUID();
  const key_id = `key_${id}`;
  await ledger.database.sql`
    insert into api_key (id, organization_id, name, key_hash, key_prefix)
    values (${key_id}, ${of.organization_id}, 'second', ${id}, 'sk-')`;
  return { ...of, key_id };
}
