import type { Sql } from '../../../db/client.ts';
import { type FreeCall, insertCallRecords } from '../../../db/records/calls.ts';
import type { Clock } from '../../actors/clock.ts';
import { CallRecord, type RecordedKey, type RecordedRequest } from './call-record.ts';

const RECORD_FLUSH_MS = 100;
/** The most records in one statement. With more of them, each costs a little less: 0.3 µs less than with a quarter. */
const MAX_BATCH = 4_000;
/**
 * The most records that wait for the database. Records above it are dropped and counted: a record
 * of a call without a charge must not fill the memory while the database is away.
 */
const MAX_WAITING_RECORDS = 50_000;

export interface CallRecordsDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * The records of all authenticated calls of this replica: those that run, and those that ended
 * without a charge, until they are written. A charged call is recorded by its usage line, and a call
 * that created a task by the task.
 */
export class CallRecords {
  /** The calls that run. */
  readonly running = new Set<CallRecord>();
  /** How many records were dropped because too many waited. */
  dropped = 0;
  private waiting: CallRecord[] = [];
  private flushing: Promise<void> | undefined;
  private cancelTimer: (() => void) | undefined;
  private readonly onIdle: (() => void)[] = [];

  constructor(private readonly deps: CallRecordsDeps) {}

  /** Begins the record of a call whose key is known. */
  begin(request: RecordedRequest, key: RecordedKey): CallRecord {
    const record = new CallRecord(request, key, this.onEnded);
    this.running.add(record);
    return record;
  }

  /** Forgets a call that did not end, but runs again later. */
  discard(record: CallRecord): void {
    this.running.delete(record);
    this.tellIfIdle();
  }

  /** Resolves when no call runs. A call continues after its client left, until it is charged. */
  async idle(): Promise<void> {
    while (this.running.size > 0) {
      await new Promise<void>((resolve) => this.onIdle.push(resolve));
    }
  }

  /** Writes all records that wait. */
  async flush(): Promise<void> {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    while (this.flushing) await this.flushing;
    while (this.waiting.length > 0) {
      this.flushing = this.write(this.waiting.splice(0, MAX_BATCH));
      await this.flushing.finally(() => {
        this.flushing = undefined;
      });
    }
  }

  async stop(): Promise<void> {
    await this.flush().catch(this.deps.onError);
  }

  private readonly onEnded = (record: CallRecord): void => {
    // A call that ended is not in the set any more, so a second end is ignored.
    if (!this.running.delete(record)) return;
    this.tellIfIdle();
    if (record.isCharged || record.hasTask) return;
    if (this.waiting.length >= MAX_WAITING_RECORDS) {
      this.dropped += 1;
      return;
    }
    this.waiting.push(record);
    this.cancelTimer ??= this.deps.clock.after(RECORD_FLUSH_MS, this.onTimer);
  };

  private tellIfIdle(): void {
    if (this.running.size > 0 || this.onIdle.length === 0) return;
    for (const tell of this.onIdle.splice(0)) tell();
  }

  private readonly onTimer = (): void => {
    this.cancelTimer = undefined;
    this.flush().catch(this.deps.onError);
  };

  /** Writes records. If the database is away, they wait again. */
  private async write(calls: CallRecord[]): Promise<void> {
    try {
      await insertCallRecords(this.deps.sql, calls.map(freeCallOf));
    } catch (error) {
      const kept = calls.slice(0, MAX_WAITING_RECORDS - this.waiting.length);
      this.dropped += calls.length - kept.length;
      this.waiting.unshift(...kept);
      this.cancelTimer ??= this.deps.clock.after(RECORD_FLUSH_MS * 10, this.onTimer);
      throw error;
    }
  }
}

/** Copies member by member: an object that is spread, and then gets more members, takes its memory several times. */
function freeCallOf(record: CallRecord): FreeCall {
  const { request, key } = record;
  const facts = record.facts();
  return {
    id: request.id,
    organization_id: key.organization_id,
    key_id: key.id,
    scene: record.scene,
    model: record.model,
    model_vendor: record.vendor,
    channel_id: record.channel_id,
    outcome: record.outcome,
    status: record.status,
    error_code: record.error_code,
    fault: record.fault,
    task_id: record.task_id ?? null,
    at_ms: facts.at_ms,
    protocol: facts.protocol,
    program: facts.program,
    authenticated_us: facts.authenticated_us,
    reserved_us: facts.reserved_us,
    routed_us: facts.routed_us,
    first_token_ms: facts.first_token_ms,
    ended_ms: facts.ended_ms,
    looked_up: facts.looked_up,
    detail: facts.detail,
  };
}
