import type { Clock } from '../clock.ts';
import type { Topic } from './messages.ts';

/**
 * The shortest time between two reports. A gap that comes sooner waits for the end of this time.
 */
const GAP_EVERY_MS = 500;

/**
 * Reports gaps. The first gap is reported at once. Gaps that follow within 500 ms are reported
 * together at the end of this time.
 */
export class GapSignal {
  private readonly topics = new Set<Topic>();
  private reportedAt = Number.NEGATIVE_INFINITY;
  private cancel: (() => void) | undefined;

  /** `report` is called with the topics of which messages may be missing. Must not throw. */
  constructor(
    private readonly clock: Clock,
    private readonly report: (topics: readonly Topic[]) => void,
  ) {}

  /** Requests the report of a gap, because messages of these topics may be missing. */
  request(topics: readonly Topic[]): void {
    for (const topic of topics) this.topics.add(topic);
    if (this.cancel) return;
    const wait_ms = this.reportedAt + GAP_EVERY_MS - this.clock.now();
    if (wait_ms <= 0) this.reportNow();
    else this.cancel = this.clock.after(wait_ms, () => this.reportNow());
  }

  stop(): void {
    this.cancel?.();
    this.cancel = undefined;
  }

  private reportNow(): void {
    this.cancel = undefined;
    this.reportedAt = this.clock.now();
    const topics = [...this.topics];
    this.topics.clear();
    this.report(topics);
  }
}
