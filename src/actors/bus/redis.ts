import { Redis } from 'ioredis';
import type { Transport, TransportEvents } from './transport.ts';

/** The longest text. Redis accepts longer ones, but they would delay the texts that follow. */
const MAX_REDIS_BYTES = 65_536;
const CONNECT_TIMEOUT_MS = 2_000;
/** A command that Redis does not answer in this time has failed. */
const COMMAND_TIMEOUT_MS = 2_000;
const FIRST_RECONNECT_MS = 50;
const LAST_RECONNECT_MS = 1_000;

const OPTIONS = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  // A text that waits for a connection would arrive late. So `send` fails at once, and a gap
  // follows.
  enableOfflineQueue: false,
  // `start` subscribes after each connection, because it must know when the subscription starts.
  autoResubscribe: false,
  retryStrategy: (times: number) => Math.min(FIRST_RECONNECT_MS * times, LAST_RECONNECT_MS),
};

/**
 * Sends with PUBLISH on one connection and receives with SUBSCRIBE on another. Redis delivers the
 * texts in the order in which it executes PUBLISH.
 */
export class RedisTransport implements Transport {
  readonly reaches_others = true;
  readonly max_bytes = MAX_REDIS_BYTES;
  private readonly publisher: Redis;
  private readonly subscriber: Redis;

  /**
   * All replicas of one installation use the same `channel`. `onError` is called for each failed
   * connection.
   */
  constructor(
    url: string,
    private readonly channel: string,
    onError: (error: Error) => void,
  ) {
    this.publisher = new Redis(url, OPTIONS);
    this.subscriber = new Redis(url, OPTIONS);
    this.publisher.on('error', onError);
    this.subscriber.on('error', onError);
  }

  /** Resolves when both connections are ready, because `send` fails at once without a connection. */
  async start(events: TransportEvents): Promise<void> {
    const { publisher } = this;
    const canSend = new Promise<void>((resolve) => publisher.once('ready', resolve));
    // If the first attempt fails, the Redis library tries again by itself.
    publisher.connect().catch(() => undefined);
    await Promise.all([canSend, this.subscribe(events)]);
  }

  private subscribe(events: TransportEvents): Promise<void> {
    const { subscriber, channel } = this;
    subscriber.on('message', (_, text) => events.onText(text));
    return new Promise((resolve) => {
      subscriber.on('ready', () => {
        subscriber.subscribe(channel).then(
          () => {
            events.onSubscribed();
            resolve();
          },
          () => subscriber.disconnect(true),
        );
      });
      subscriber.connect().catch(() => undefined);
    });
  }

  async send(text: string): Promise<void> {
    await this.publisher.publish(this.channel, text);
  }

  restart(): void {
    this.publisher.disconnect(true);
    this.subscriber.disconnect(true);
  }

  async stop(): Promise<void> {
    this.publisher.disconnect();
    this.subscriber.disconnect();
  }
}
