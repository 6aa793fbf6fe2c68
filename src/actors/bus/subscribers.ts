import { type Messages, TOPICS, type Topic } from './messages.ts';

/** The functions of a subscriber of one topic. */
export interface Subscriber<Message> {
  /**
   * Called for each message of this and of other replicas. Messages of one replica arrive in the
   * order in which that replica published them. Must not throw.
   */
  onMessage(message: Message): void;
  /** Called when messages may be missing: the subscriber reads the rows again. Must not throw. */
  onGap(): void;
}

type SubscriberOf<T extends Topic> = Subscriber<Messages[T]>;

/** The subscribers of each topic in this process. */
export class Subscribers {
  private readonly byTopic = new Map<Topic, Set<Subscriber<never>>>(
    TOPICS.map((topic) => [topic, new Set()]),
  );
  private readonly pending: (() => void)[] = [];
  private isDelivering = false;

  /** `onError` is called with what a subscriber throws. The other subscribers are called anyway. */
  constructor(private readonly onError: (error: unknown) => void) {}

  /** Returns a function that ends the subscription. */
  add<T extends Topic>(topic: T, subscriber: SubscriberOf<T>): () => void {
    const subscribers = this.byTopic.get(topic);
    subscribers?.add(subscriber as Subscriber<never>);
    return () => void subscribers?.delete(subscriber as Subscriber<never>);
  }

  deliver<T extends Topic>(topic: T, message: Messages[T]): void {
    this.inOrder(() => this.each(topic, (subscriber) => subscriber.onMessage(message as never)));
  }

  reportGap(topics: readonly Topic[]): void {
    this.inOrder(() => {
      for (const topic of topics) this.each(topic, (subscriber) => subscriber.onGap());
    });
  }

  private each(topic: Topic, call: (subscriber: Subscriber<never>) => void): void {
    for (const subscriber of this.byTopic.get(topic) ?? []) {
      try {
        call(subscriber);
      } catch (error) {
        this.onError(error);
      }
    }
  }

  /**
   * A subscriber may publish a second message during the delivery of a first one. All subscribers
   * must get the first message before the second. So the second delivery starts after the first.
   */
  private inOrder(delivery: () => void): void {
    this.pending.push(delivery);
    if (this.isDelivering) return;
    this.isDelivering = true;
    for (let next = this.pending.shift(); next; next = this.pending.shift()) next();
    this.isDelivering = false;
  }
}
