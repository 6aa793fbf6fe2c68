/** Buses in one process, on a network and a clock that the test controls. */
import { Bus } from '../../src/actors/bus/bus.ts';
import type { Topic } from '../../src/actors/bus/messages.ts';
import type { Transport, TransportEvents } from '../../src/actors/bus/transport.ts';
import type { Clock } from '../../src/actors/clock.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';

/** Carries texts between the transports of one process. */
export class MemoryNetwork {
  /** Returns the texts that arrive instead of `text`, in order. */
  carry: (text: string, from: MemoryTransport, to: MemoryTransport) => string[] = (text) => [text];
  readonly transports = new Set<MemoryTransport>();

  transport(max_bytes = 8_000): MemoryTransport {
    return new MemoryTransport(this, max_bytes);
  }
}

export class MemoryTransport implements Transport {
  readonly reaches_others = true;
  readonly sent: string[] = [];
  restarts = 0;
  events: TransportEvents | undefined;
  /** If set, `send` only calls this function, and returns its result. */
  onSend: (() => Promise<void>) | undefined;

  constructor(
    private readonly network: MemoryNetwork,
    readonly max_bytes: number,
  ) {}

  async start(events: TransportEvents): Promise<void> {
    this.events = events;
    this.network.transports.add(this);
    events.onSubscribed();
  }

  async send(text: string): Promise<void> {
    if (this.onSend) return this.onSend();
    this.sent.push(text);
    for (const to of this.network.transports) {
      for (const each of this.network.carry(text, this, to)) to.events?.onText(each);
    }
  }

  restart(): void {
    this.restarts += 1;
  }

  async stop(): Promise<void> {
    this.crash();
  }

  /** Leaves the network without a last message. */
  crash(): void {
    this.network.transports.delete(this);
  }
}

/** The messages that the subscriber of one topic received, in order. */
type Received = string[];

/** A bus with a recording subscriber for messages of the topic `money`. */
export interface TestBus {
  readonly bus: Bus;
  readonly received: Received;
  readonly errors: unknown[];
  /** How many gaps the subscriber received. */
  gaps(): number;
  send(organization_id: string): void;
}

/** Creates a bus that is not started. */
export function testBus(transport: Transport, clock: Clock, name = 'replica'): TestBus {
  const errors: unknown[] = [];
  const received: Received = [];
  let gaps = 0;
  const bus = new Bus({
    transport,
    clock,
    ids: { uuid: () => crypto.randomUUID() },
    replica_id: () => name,
    onError: (error) => errors.push(error),
  });
  bus.subscribe('money', {
    onMessage: ({ organization_id }) => received.push(organization_id),
    onGap: () => {
      gaps += 1;
    },
  });
  const send = (organization_id: string) => bus.publish('money', { organization_id });
  return { bus, received, errors, gaps: () => gaps, send };
}

/** Several buses on one network and one simulated clock. */
export class BusWorld {
  readonly clock = new VirtualClock();
  readonly network = new MemoryNetwork();

  async join(max_bytes?: number): Promise<TestBus & { transport: MemoryTransport }> {
    const transport = this.network.transport(max_bytes);
    const joined = testBus(transport, this.clock);
    await joined.bus.start();
    await this.pass(0);
    return { ...joined, transport };
  }

  /** Advances the clock by `ms`, in steps of 10 ms. After each step, settled promises continue. */
  async pass(ms: number): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    for (let passed = 0; passed < ms; passed += 10) {
      this.clock.advance(10);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Counts the gaps of a topic. */
export function countGaps(bus: Bus, topic: Topic): () => number {
  let gaps = 0;
  const onGap = () => {
    gaps += 1;
  };
  bus.subscribe(topic, { onMessage: () => undefined, onGap });
  return () => gaps;
}
