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

/** Receives each event of a quota machine, with the state after it. Must not throw. */
export type OnQuotaEvent = (event: QuotaEvent, state: unknown) => void;

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

  constructor(private readonly onEvent?: OnQuotaEvent) {
    // An error of the machine must not end the process. The call that sent the event receives the
    // error.
    this.machine.subscribe({ error: () => undefined });
    this.machine.start();
    this.current = this.machine.getSnapshot().context;
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

  /** Sends an event to the machine and returns its verdict. */
  send(event: QuotaEvent): QuotaVerdict {
    this.sendCalls();
    this.pass(event);
    return this.machine.getSnapshot().context.verdict;
  }

  /** Admits a call if the grant covers it; otherwise returns the machine's verdict. */
  reserve(amount: number): QuotaVerdict {
    if (!this.isOpen() || amount > this.idle) return this.send({ type: 'RESERVE', amount });
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

  private pass(event: QuotaEvent): void {
    this.machine.send(event);
    const { context, value } = this.machine.getSnapshot();
    this.current = context;
    this.onEvent?.(event, value);
  }
}

const ADMITTED: QuotaVerdict = { type: 'admitted' };
