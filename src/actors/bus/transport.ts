/** What a transport reports to its bus. The functions never throw. */
export interface TransportEvents {
  /**
   * Called for each text that a replica sent, this replica included. Texts of one replica arrive in
   * the order in which that replica sent them.
   */
  onText(text: string): void;
  /**
   * Called each time the subscription starts. After this call no text is lost until the connection
   * breaks. A second call means that the connection broke and texts may have been lost.
   */
  onSubscribed(): void;
}

/** Carries the texts of a bus to all replicas. */
export interface Transport {
  /** False if no other process can receive. Then the bus sends nothing. */
  readonly reaches_others: boolean;
  /** The longest text that `send` accepts, in bytes of UTF-8. */
  readonly max_bytes: number;
  /**
   * Subscribes. After a lost connection, the transport subscribes again by itself. Resolves when
   * the first subscription starts. Rejects if the first attempt fails.
   */
  start(events: TransportEvents): Promise<void>;
  /** Sends a text. Rejects if the text may be lost. The bus sends one text at a time. */
  send(text: string): Promise<void>;
  /** Replaces the connections. Called if no text has arrived for a while. */
  restart(): void;
  /** Closes the connections. */
  stop(): Promise<void>;
}
