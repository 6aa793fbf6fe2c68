/** Clients that send one request after the other until they are stopped. */
export abstract class Clients {
  protected stopping = false;
  private running: Promise<void>[] = [];

  constructor(
    protected readonly target: { base_url: string; api_key: string },
    /** Decides what the clients send. */
    protected readonly seed: number,
  ) {}

  start(clients: number): void {
    this.running = Array.from({ length: clients }, (_, client) => this.runClient(client));
  }

  /** Waits until all that the clients have begun has ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.running);
  }

  /** Runs one client until `stopping` is true. */
  protected abstract runClient(client: number): Promise<void>;

  /** Sends a request with the key of the clients. */
  protected request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = {
      authorization: `Bearer ${this.target.api_key}`,
      'content-type': 'application/json',
      'x-weir-cache-control': 'no_cache',
    };
    return fetch(`${this.target.base_url}${path}`, { ...init, headers });
  }
}
