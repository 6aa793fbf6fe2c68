import { type ActorRefFrom, createActor } from 'xstate';
import {
  admitCall,
  chargeCall,
  idleOf,
  type QuotaEvent,
  type QuotaSums,
  type QuotaVerdict,
  quotaMachine,
  releaseCall,
  takeBackExtension,
} from '../../machines/quota.ts';
import { EventRing } from '../../replay/event-ring.ts';

/** Called after each event of a quota machine. `taken` is false if it changed nothing. Must not throw. */
export type OnQuotaEvent = (event: QuotaEvent, taken: boolean) => void;

/**
 * The quota machine of one key, and the sums of the calls since the machine's last event.
 *
 * A call that the grant covers changes sums, but no state. An event for each call would cost more
 * than the rest of the admission. So such calls are counted here, with the machine's own functions.
 * The sum of these calls is sent as one event. It is sent before any other event and before each
 * read of the snapshot.
 */
export class QuotaMachine {
  private readonly machine: ActorRefFrom<typeof quotaMachine> = createActor(quotaMachine);
  private current: QuotaSums;
  /** The last events that changed something. */
  readonly ring: EventRing;

  /** `now` returns ms since the epoch; `ringLimit` says how many events are kept. */
  constructor(
    private readonly onEvent?: OnQuotaEvent,
    now: () => number = Date.now,
    ringLimit?: () => number,
  ) {
    // An error of the machine must not end the process. The call that sent the event receives the
    // error.
    this.machine.subscribe({ error: () => undefined });
    this.machine.start();
    const first = this.machine.getSnapshot();
    this.current = first.context;
    this.ring = new EventRing(first, now, ringLimit);
  }

  /** The machine's state and context, with all calls counted. */
  get snapshot() {
    this.sendCalls();
    return this.machine.getSnapshot();
  }

  /** The present sums, nano-USD. */
  get sums(): Readonly<QuotaSums> {
    return this.current;
  }

  /** The nano-USD of the grant that are neither charged nor reserved. */
  get idle(): number {
    return idleOf(this.current);
  }

  /**
   * True if the state is `open` and, if `inner` is given, the substate is `inner`. Called several
   * times for each call, so it does not use XState's `matches`, which is slower.
   */
  isOpen(inner?: 'ample' | 'exact'): boolean {
    const { value } = this.machine.getSnapshot();
    return typeof value === 'object' && (inner === undefined || value.open === inner);
  }

  /** The machine after its last event. Later calls are not counted in it. */
  get last() {
    return this.machine.getSnapshot();
  }

  /** Sends an event to the machine and returns its verdict. `call_id` is the call that caused it. */
  send(event: QuotaEvent, call_id?: string): QuotaVerdict {
    this.sendCalls();
    this.pass(event, call_id);
    return this.machine.getSnapshot().context.verdict;
  }

  /** Admits a call if the grant covers it; otherwise returns the machine's verdict. */
  reserve(amount: number, call_id?: string): QuotaVerdict {
    if (!this.isOpen() || amount > this.idle)
      return this.send({ type: 'RESERVE', amount }, call_id);
    this.current = admitCall(this.current, amount);
    return ADMITTED;
  }

  /**
   * Ends an admitted call with a charge. Returns the `charge` that the grant covers, and the
   * `overrun` that it does not cover.
   */
  settle(reserved: number, actual: number): { charge: number; overrun: number } {
    const { sums, charge, overrun } = chargeCall(this.current, { reserved, actual });
    this.current = sums;
    return { charge, overrun };
  }

  /** Ends an admitted call without a charge. */
  release(reserved: number): void {
    this.current = releaseCall(this.current, reserved);
  }

  /** Takes back an extension of a call that has ended. */
  takeBack(amount: number): void {
    this.current = takeBackExtension(this.current, amount);
  }

  /** Sends the calls since the last event as one event, if there were any. */
  sendCalls(): void {
    const { context } = this.machine.getSnapshot();
    const { current: now } = this;
    if (now === context) return;
    this.pass({
      type: 'CALLS',
      reserved: now.reserved - context.reserved,
      settled: now.settled - context.settled,
      in_flight: now.in_flight - context.in_flight,
    });
  }

  private pass(event: QuotaEvent, call_id?: string): void {
    const before = this.machine.getSnapshot();
    this.machine.send(event);
    const after = this.machine.getSnapshot();
    this.current = after.context;
    const taken = after !== before;
    if (taken) this.keep(event, after, call_id);
    this.onEvent?.(event, taken);
  }

  /** Keeps an event in the ring. Sums of calls that follow each other are kept as one sum. */
  private keep(
    event: QuotaEvent,
    after: { value: unknown; context: object },
    call_id: string | undefined,
  ): void {
    const { ring } = this;
    const last = ring.events.at(-1)?.event as QuotaEvent | undefined;
    if (event.type === 'CALLS' && last?.type === 'CALLS') {
      const { reserved, settled, in_flight } = last;
      const sum = {
        reserved: reserved + event.reserved,
        settled: settled + event.settled,
        in_flight: in_flight + event.in_flight,
      };
      ring.replaceLast({ type: 'CALLS', ...sum } as QuotaEvent, after);
    } else ring.add(event, after, call_id === undefined ? 'weir' : 'call', call_id);
  }
}

const ADMITTED: QuotaVerdict = { type: 'admitted' };
