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
} from '../../machines/quota.ts';

/**
 * The live machine of one key's quota, and the calls since its last event.
 *
 * A call that fits the grant changes sums and no state. Sending each as an event costs more than all
 * the rest of its admission, so such calls are counted here, by the machine's own rules, and the
 * machine is told their sum before anything else reaches it, and before anybody looks at it.
 */
export class QuotaMachine {
  private readonly machine: ActorRefFrom<typeof quotaMachine> = createActor(quotaMachine);
  private now: QuotaSums;

  constructor() {
    // A machine that throws must not end the process: the call that sent the event sees it.
    this.machine.subscribe({ error: () => undefined });
    this.machine.start();
    this.now = this.machine.getSnapshot().context;
  }

  /** The machine's state and context, told of every call. */
  get snapshot() {
    this.tellCalls();
    return this.machine.getSnapshot();
  }

  /** The sums as they are now, nano-USD. */
  get sums(): Readonly<QuotaSums> {
    return this.now;
  }

  /** Nano-USD of the grant that nobody uses. */
  get idle(): number {
    return idleOf(this.now);
  }

  /** Spelled out: this is asked several times a call, and `matches` is many times dearer. */
  isOpen(how?: 'ample' | 'exact'): boolean {
    const { value } = this.machine.getSnapshot();
    return typeof value === 'object' && (how === undefined || value.open === how);
  }

  /** Gives the machine an event, and its answer. */
  send(event: QuotaEvent): QuotaVerdict {
    this.tellCalls();
    this.machine.send(event);
    const { context } = this.machine.getSnapshot();
    this.now = context;
    return context.verdict;
  }

  /** Admits a call that the grant covers; else the machine says what is in its way. */
  reserve(amount: number): QuotaVerdict {
    if (!this.isOpen() || amount > this.idle) return this.send({ type: 'RESERVE', amount });
    this.now = admitCall(this.now, amount);
    return ADMITTED;
  }

  /** Charges a call that was admitted; `overrun` is what the grant does not cover. */
  settle(reserved: number, actual: number): { charge: number; overrun: number } {
    const { sums, charge, overrun } = chargeCall(this.now, { reserved, actual });
    this.now = sums;
    return { charge, overrun };
  }

  /** A call that was admitted is over, and costs nothing. */
  release(reserved: number): void {
    this.now = releaseCall(this.now, reserved);
  }

  private tellCalls(): void {
    const { context } = this.machine.getSnapshot();
    const { now } = this;
    if (now === context) return;
    this.machine.send({
      type: 'CALLS',
      reserved: now.reserved - context.reserved,
      settled: now.settled - context.settled,
      in_flight: now.in_flight - context.in_flight,
    });
    this.now = this.machine.getSnapshot().context;
  }
}

const ADMITTED: QuotaVerdict = { type: 'admitted' };
