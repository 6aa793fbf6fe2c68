/** What a transport reports to its bus. The functions never throw. */
export interface TransportEvents {
  /** Called for each text that a bus sent, including this one, in the order of its sender. */
  onText(text: string): void;
  /**
   * Called each time when the subscription starts. From this call on no text is lost, until the
   * connection breaks. Before a second call, texts may have been lost.
   */
  onSubscribed(): void;
}

/** Carries the texts of a bus to all replicas. */
export interface Transport {
  /** False if no other process can listen. Then the bus sends nothing. */
  readonly reaches_others: boolean;
  /** The longest text that `send` accepts, in bytes of UTF-8. */
  readonly max_bytes: number;
  /**
   * Subscribes, and after a lost connection subscribes again. Resolves at the first subscription.
   * Rejects if the first attempt fails.
   */
  start(events: TransportEvents): Promise<void>;
  /** Sends a text. Rejects if the text may be lost. The bus calls it for one text at a time. */
  send(text: string): Promise<void>;
  /** Replaces the connections. Called if they have carried nothing for a while. */
  restart(): void;
  /** Closes the connections. */
  stop(): Promise<void>;
}
