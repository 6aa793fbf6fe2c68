import { usageOf } from './calls.ts';
import { type FragileCall, type FragileHold, OwnBooks, overrunOf } from './fragile-calls.ts';
import type { FragileReplica } from './fragile-replica.ts';
import type { Random } from './random.ts';

/** The part of a schedule that its clients use. */
interface ClientWorld {
  readonly random: Random;
  readonly replicas: readonly FragileReplica[];
  readonly keys: readonly string[];
  readonly isDisturbed: boolean;
  log(line: string): void;
  count(name: string): void;
  violate(violation: string): void;
}

const CALLS = 9;
const HOLDS = 2;
const PRICE = 100;
/** The time when holds expire; the schedule decides when that is. */
const LATER = '2100-01-01T00:00:00Z';

/** The clients of a schedule: their calls and holds, and what they expect of the answers. */
export class FragileClients {
  readonly books: OwnBooks;
  private startedCalls = 0;
  private startedHolds = 0;

  constructor(
    private readonly world: ClientWorld,
    private readonly organization_id: string,
    deposited: number,
    caps: ReadonlyMap<string, number>,
  ) {
    this.books = new OwnBooks(deposited, caps);
  }

  get haveEnded(): boolean {
    const isOpen = ({ state }: FragileCall) => ['waiting', 'running', 'settling'].includes(state);
    const isHeld = ({ state }: FragileHold) => state !== 'settled' && state !== 'ended';
    if (this.startedCalls < CALLS || this.startedHolds < HOLDS) return false;
    return !this.books.calls.some(isOpen) && !this.books.holds.some(isHeld);
  }

  /** What the clients may do next, on replicas whose process runs. */
  choices(): (() => void)[] {
    const choices: (() => void)[] = [];
    const { random } = this.world;
    for (const call of this.books.calls) {
      if (call.replica.isPaused) continue;
      if (call.state === 'running')
        choices.push(
          () => this.endCall(call),
          () => this.extend(call),
        );
      if (call.state === 'waiting' && random.chance(0.1)) choices.push(() => this.leave(call));
    }
    const running = this.world.replicas.filter(({ isPaused }) => !isPaused);
    if (running.length === 0) return choices;
    const replica = random.pick(running);
    for (const hold of this.books.holds) {
      if (hold.state === 'held') choices.push(() => this.endHold(hold, replica));
    }
    if (this.startedCalls < CALLS) choices.push(() => this.start(replica));
    if (this.startedHolds < HOLDS && random.chance(0.3)) choices.push(() => this.hold(replica));
    return choices;
  }

  /** What a killed replica had not answered is lost. Durable holds go on elsewhere. */
  onKilled(replica: FragileReplica): void {
    for (const call of this.books.calls) {
      if (call.replica !== replica) continue;
      if (call.state === 'settling') call.state = 'lost';
      else if (call.state === 'waiting' || call.state === 'running') call.state = 'ended';
    }
    for (const hold of this.books.holds) {
      if (hold.replica === replica && (hold.state === 'asked' || hold.state === 'ending')) {
        hold.state = 'held';
      }
    }
  }

  private start(replica: FragileReplica): void {
    this.startedCalls += 1;
    const { random } = this.world;
    const amount = PRICE / 2 + random.below(PRICE);
    const earlier = this.books.calls.filter(({ state }) => state !== 'ended');
    const twin = earlier.length > 0 && random.chance(0.2) ? random.pick(earlier) : undefined;
    const call: FragileCall = {
      name: `call ${this.startedCalls}`,
      key_id: twin?.key_id ?? random.pick(this.world.keys),
      replica,
      line_id: twin?.line_id ?? Bun.randomUUIDv7(),
      amount,
      actual: 1 + random.below(random.chance(0.4) ? amount * 3 : amount),
      state: 'waiting',
      client: new AbortController(),
      charged: 0,
      least_free: Number.MAX_SAFE_INTEGER,
      was_disturbed: false,
    };
    if (twin) this.world.count('twins');
    this.books.calls.push(call);
    this.world.log(`${call.name} of ${call.key_id} asks ${replica.name} for ${amount}`);
    const key = { id: call.key_id, organization_id: this.organization_id };
    const request = { amount, minimum: () => Math.min(amount, PRICE), signal: call.client.signal };
    Promise.resolve()
      .then(() => replica.quotas.getOrCreate(key).reserve(request))
      .then((reservation) => {
        if (call.state !== 'waiting') return reservation.release();
        Object.assign(call, { reservation, state: 'running', admitted_as: replica.id });
        this.world.log(`${call.name} runs with ${reservation.amount}`);
      })
      .catch((error: { id?: string }) => {
        if (call.state === 'waiting') call.state = 'ended';
        this.world.log(`${call.name} refused: ${error.id ?? error}`);
      });
  }

  private leave(call: FragileCall): void {
    call.state = 'ended';
    this.world.log(`${call.name} leaves`);
    call.client.abort(new Error('the client left'));
  }

  private extend(call: FragileCall): void {
    const { reservation, client } = call;
    const { random } = this.world;
    const request = { amount: 1 + random.below(PRICE), minimum: () => 1, signal: client.signal };
    this.world.log(`${call.name} extends by ${request.amount}`);
    void reservation?.extend({ ...request, wait_ms: 2_000 });
    if (!random.chance(0.3)) return;
    this.world.count('leaves');
    client.abort(new Error('the client left'));
    this.endCall(call);
  }

  private endCall(call: FragileCall): void {
    const { reservation } = call;
    if (!reservation) return;
    if (this.world.random.chance(0.15)) {
      call.state = 'ended';
      this.world.log(`${call.name} released`);
      reservation.release();
      return;
    }
    call.state = 'settling';
    if (overrunOf(call) > 0) this.world.count('overruns');
    this.world.log(`${call.name} settles ${call.actual} of ${reservation.amount}`);
    const line = { ...usageOf(this.organization_id, call.key_id), id: call.line_id };
    reservation.settle(line, call.actual).then(
      (settled) => {
        if (call.state !== 'settling') return;
        this.onSettled(call, settled);
        call.state = 'settled';
        call.charged = settled.charged;
      },
      (error: unknown) => {
        if (call.state === 'settling') this.world.violate(`${call.name}: ${String(error)}`);
      },
    );
  }

  /** What the platform absorbs, the client's money must not have covered. */
  private onSettled(call: FragileCall, settled: { charged: number; overrun: number }): void {
    this.world.log(`${call.name} settled ${settled.charged}, absorbed ${settled.overrun}`);
    const isTwin = this.books.calls.some(
      (other) => other !== call && other.line_id === call.line_id,
    );
    if (isTwin) return;
    if (settled.charged + settled.overrun !== call.actual) {
      this.world.violate(`${call.name} cost ${call.actual}: ${JSON.stringify(settled)}`);
    }
    if (call.was_disturbed || call.admitted_as !== call.replica.id) return;
    const reserved = Math.min(call.actual, call.reservation?.amount ?? 0);
    const due = reserved + Math.min(overrunOf(call), Math.max(0, call.least_free));
    this.world.count('compared');
    if (settled.charged < due) {
      const what = `${settled.charged} of ${call.actual}, ${call.least_free} were free`;
      this.world.violate(`${call.name} was charged ${what}`);
    }
  }

  private hold(replica: FragileReplica): void {
    this.startedHolds += 1;
    const { random } = this.world;
    const amount = PRICE / 2 + random.below(PRICE);
    const hold: FragileHold = {
      id: Bun.randomUUIDv7(),
      key_id: random.pick(this.world.keys),
      amount,
      cost: 1 + random.below(amount * 2),
      state: 'asked',
      charged: 0,
      replica,
    };
    this.books.holds.push(hold);
    this.world.count('holds');
    const { key_id, organization_id } = { ...hold, organization_id: this.organization_id };
    const command = { hold_id: hold.id, key_id, organization_id, amount, reference: 'sim' };
    replica.lane.submit({ type: 'HOLD', ...command, expires_at: LATER }).then(
      (answer) => {
        if (hold.state !== 'asked') return;
        hold.state = answer.type === 'held' ? 'held' : 'ended';
        if (answer.type === 'held' && random.chance(0.3)) this.extendHold(hold);
      },
      // The outcome is not known, so the task's end must release the hold.
      () => this.mustEnd(hold),
    );
  }

  private mustEnd(hold: FragileHold): void {
    hold.end = 'RELEASE_HOLD';
    hold.state = 'held';
  }

  private extendHold(hold: FragileHold): void {
    const amount = hold.amount + this.world.random.below(PRICE);
    hold.amount = amount;
    hold.replica.lane
      .submit({ type: 'EXTEND_HOLD', hold_id: hold.id, amount })
      .catch(() => undefined);
  }

  private endHold(hold: FragileHold, replica: FragileReplica): void {
    const types = ['SETTLE_HOLD', 'SETTLE_HOLD', 'RELEASE_HOLD', 'EXPIRE_HOLD'] as const;
    hold.end ??= this.world.random.pick(types);
    hold.replica = replica;
    hold.state = 'ending';
    const usage = usageOf(this.organization_id, hold.key_id);
    const line = { ...usage, id: hold.id, charged_nano_usd: hold.cost, overrun_nano_usd: 0 };
    const command =
      hold.end === 'SETTLE_HOLD'
        ? { type: hold.end, hold_id: hold.id, line }
        : { type: hold.end, hold_id: hold.id };
    replica.lane.submit(command).then(
      (answer) => {
        const isSettled = answer.type === 'hold_ended' && answer.status === 'settled';
        if (isSettled) hold.charged = answer.charged;
        hold.state = isSettled ? 'settled' : 'ended';
      },
      () => {
        hold.state = 'held';
      },
    );
  }
}
