/**
 * Two replicas' lanes on a real PostgreSQL whose clock the test sets, and a plain list of all charges
 * that were made. The list knows nothing of partitions, sums and retention.
 */
import { connectDatabase, type Database, type Sql } from '../../../db/client.ts';
import { insertCallRecords } from '../../../db/records/calls.ts';
import { type ClosedMonth, closeMonth } from '../../../db/retention/close.ts';
import { addMonths, listPartitions } from '../../../db/retention/months.ts';
import { fold } from '../../../db/usage/roll-ups/fold.ts';
import { systemClock } from '../../../src/actors/clock.ts';
import { Lane } from '../../../src/actors/money/lane.ts';
import type { LedgerAnswer, LedgerCommand } from '../../../src/actors/money/ledger-commands.ts';
import {
  type Account,
  FUNDS,
  grant,
  hold,
  line,
  openLedger,
  type TestLedger,
} from '../../support/ledger.ts';

export const DAY_MS = 86_400_000;
const DEPOSIT = 1_000_000;
const GRANT = 100_000;

/** One charge, as the test made it. */
export interface Charge {
  readonly id: string;
  readonly of: Account;
  readonly at: number;
  readonly model: string;
  readonly tokens: number;
  readonly charged: number;
  readonly overrun: number;
}

/** A command that ended, to be repeated. */
interface Ended {
  readonly command: LedgerCommand;
  readonly charge: Charge | undefined;
}

interface OpenHold {
  readonly of: Account;
  readonly at: number;
  readonly amount: number;
  readonly hold_id: string;
}

/** Opens a world whose clock stands at the beginning of the first month that has a name. */
export async function openWorld(): Promise<RetentionWorld> {
  const ledger = await openLedger('single');
  const other = connectDatabase(ledger.url, { pool: 'single' });
  const first = (await listPartitions(ledger.database.sql, 'usage_line'))[0]?.until;
  if (!first) throw new Error('the migration made no partition');
  const accounts = [await ledger.account(), await ledger.account()];
  const world = new RetentionWorld(ledger, other, first.getTime(), accounts);
  await world.begin();
  return world;
}

export class RetentionWorld {
  readonly charges: Charge[] = [];
  readonly ended: Ended[] = [];
  readonly closed: ClosedMonth[] = [];
  open: OpenHold[] = [];
  now: number;
  private readonly lanes: readonly Lane[];
  private readonly grants = new Map<string, string>();

  constructor(
    private readonly ledger: TestLedger,
    private readonly other: Database,
    /** The first instant of a month. */
    readonly start: number,
    readonly accounts: readonly Account[],
  ) {
    this.now = start;
    const hints = { publish: () => undefined, publishUnknown: () => undefined };
    const second = new Lane({
      sql: other.sql,
      clock: systemClock,
      hints,
      onError: () => undefined,
    });
    this.lanes = [ledger.lane, second];
  }

  get sql(): Sql {
    return this.ledger.database.sql;
  }

  /** The database as the other replica sees it. */
  get other_sql(): Sql {
    return this.other.sql;
  }

  /** Another connection to the database. */
  connect(): Database {
    return connectDatabase(this.ledger.url, { pool: 'single' });
  }

  get first(): Account {
    const [first] = this.accounts;
    if (!first) throw new Error('there is no account');
    return first;
  }

  async begin(): Promise<void> {
    await this.setNow(this.start);
    for (const of of this.accounts) {
      const { organization_id } = of;
      const deposit = {
        deposit_id: Bun.randomUUIDv7(),
        organization_id,
        amount: DEPOSIT,
        note: '',
      };
      await this.ledger.lane.submit({ type: 'DEPOSIT', ...deposit });
      for (const [at, lane] of this.lanes.entries()) {
        const replica_id = `${of.replica_id}_${at}`;
        await this.sql`
          insert into replica (id, lease_until) values (${replica_id}, now() + interval '1 h')`;
        const request = { ...grant(of, GRANT), replica_id };
        await lane.submit(request);
        this.grants.set(`${of.key_id} ${at}`, request.grant_id);
      }
    }
  }

  async close(): Promise<void> {
    await this.other.close();
    await this.ledger.close();
  }

  /** Sets the clock of both replicas and of the database. */
  async setNow(now: number): Promise<void> {
    this.now = now;
    for (const { sql } of [this.ledger.database, this.other]) {
      await sql`select set_config('weir.now', ${new Date(now).toISOString()}, false)`;
    }
  }

  deposited(): number {
    return DEPOSIT + FUNDS;
  }

  /** A call that is charged by one of the replicas, and that reserved its money after its arrival. */
  async call(by: number, of: Account, amount: number, model: string, tokens: number, wait_ms = 0) {
    const id = this.id();
    const at = Math.floor(this.now) + wait_ms;
    const record = {
      ...{ at_ms: at, protocol: 'openai', program: '', authenticated_us: null, reserved_us: null },
      ...{ routed_us: null, first_token_ms: null, ended_ms: 1, detail: undefined },
    };
    const command: LedgerCommand = {
      type: 'SETTLE',
      line: {
        ...{ ...line(of, amount), id, request_id: id, model, input_tokens: tokens, record },
        grant_id: this.grants.get(`${of.key_id} ${by}`) ?? '',
      },
    };
    const answer = await this.send(by, command);
    this.note(command, { id, of, at, model, tokens, ...amountsOf(answer, amount) });
  }

  async hold(of: Account, amount: number): Promise<void> {
    const hold_id = this.id();
    const answer = await this.send(0, hold(of, amount, hold_id));
    if (answer.type === 'held') this.open.push({ of, at: this.now, amount, hold_id });
  }

  /** Ends a hold: with a charge, or with a refund if there is no amount. */
  async endHold(by: number, at: number, amount: number | undefined): Promise<void> {
    const held = this.open[at % Math.max(1, this.open.length)];
    if (!held) return;
    this.open = this.open.filter((each) => each !== held);
    const { hold_id, of } = held;
    if (amount === undefined) {
      await this.send(by, { type: 'RELEASE_HOLD', hold_id });
      this.note({ type: 'RELEASE_HOLD', hold_id }, undefined);
      return;
    }
    const id = this.id();
    const command: LedgerCommand = {
      type: 'SETTLE_HOLD',
      hold_id,
      line: { ...line(of, amount), id, model: 'video', input_tokens: 1 },
    };
    const answer = await this.send(by, command);
    const charge = { id, of, at: Math.floor(held.at), model: 'video', tokens: 1 };
    this.note(command, { ...charge, ...amountsOf(answer, amount) });
  }

  /** Sends an earlier command again, as a replica does that lost the answer. */
  repeat(by: number, at: number): Promise<LedgerAnswer> | undefined {
    const earlier = this.ended[at % Math.max(1, this.ended.length)];
    return earlier && this.send(by, earlier.command);
  }

  /** The record of a call that was refused. */
  async refuse(of: Account): Promise<void> {
    await insertCallRecords(this.sql, [refusedCall(of, this.id(), this.now)]);
  }

  async foldAll(): Promise<void> {
    while ((await fold(this.sql)).more);
  }

  /** Makes and removes months, as each replica does once a minute. */
  async sweep(days: number): Promise<void> {
    await addMonths(this.sql);
    for (const table of ['call_record', 'usage_line'] as const) {
      const month = await closeMonth(this.other.sql, table, days);
      if (month) this.closed.push(month);
    }
  }

  /** Removes a month with a connection that dies after some time, maybe when it has committed. */
  async sweepAndDie(days: number, after_ms: number): Promise<void> {
    const third = this.connect();
    const { sql } = third;
    const now = new Date(this.now).toISOString();
    const [row] = await sql<{ pid: number }[]>`
      select pg_backend_pid() as pid, set_config('weir.now', ${now}, false)`;
    const closing = closeMonth(sql, 'usage_line', days).then(
      (month) => month && this.closed.push(month),
      () => undefined,
    );
    await Bun.sleep(after_ms);
    await this.sql`select pg_terminate_backend(${row?.pid ?? 0}::int4)`;
    await closing;
    await third.close();
  }

  send(by: number, command: LedgerCommand): Promise<LedgerAnswer> {
    const lane = this.lanes[by];
    if (!lane) throw new Error(`there is no replica ${by}`);
    return lane.submit(command);
  }

  private note(command: LedgerCommand, charge: Charge | undefined): void {
    this.ended.push({ command, charge });
    if (charge) this.charges.push(charge);
  }

  private id(): string {
    return Bun.randomUUIDv7('hex', this.now);
  }
}

/** The record of a call that was refused at some time. */
export function refusedCall({ organization_id, key_id }: Account, id: string, at_ms: number) {
  return {
    ...{ id, organization_id, key_id, at_ms, scene: 'chat', model: 'a', model_vendor: 'v' },
    ...{ channel_id: '', outcome: 'refused', status: 400, error_code: null, fault: null },
    ...{ task_id: null, protocol: 'openai', program: '', authenticated_us: null },
    ...{ reserved_us: null, routed_us: null, first_token_ms: null, ended_ms: 1, detail: undefined },
  };
}

/** The amounts of an answer to a charge of `amount`. */
function amountsOf(answer: LedgerAnswer, amount: number): { charged: number; overrun: number } {
  if (answer.type === 'settled') return { charged: answer.charged, overrun: answer.overrun };
  if (answer.type !== 'hold_ended') throw new Error(`unexpected answer ${answer.type}`);
  return { charged: answer.charged, overrun: amount - answer.charged };
}

export const DAYS = 31;

/** Opens a world in which the time before its first month is removed. */
export async function openFirstMonth(cleanups: (() => unknown)[]): Promise<RetentionWorld> {
  const made = await openWorld();
  cleanups.push(() => made.close());
  await made.foldAll();
  await made.setNow(made.start + DAYS * DAY_MS);
  await made.sweep(DAYS);
  await made.setNow(made.start);
  return made;
}

/** Moves the clock behind the days of the first month. */
export const passMonth = (of: RetentionWorld) => of.setNow(of.start + 63 * DAY_MS);

/** Returns the number of rows of a table. */
export async function count({ sql }: RetentionWorld, table: string): Promise<number | undefined> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int4 as count from ${sql(table)}`;
  return row?.count;
}
