/** What one streaming client saw. */
export interface ClientCall {
  /** The value of `user` in the request. It identifies the call in the simulator's books. */
  reference: string;
  /** The id from the answer. It identifies the call in the ledger. */
  request_id?: string | undefined;
  outcome: 'whole' | 'broken' | 'refused' | 'running';
  status?: number;
}

/** Clients that stream one answer after the other until `stop` is called. */
export class Load {
  readonly calls: ClientCall[] = [];
  private stopping = false;
  private clients: Promise<void>[] = [];

  constructor(
    private readonly target: { base_url: string; api_key: string },
    private readonly prompt: string,
  ) {}

  start(clients: number): void {
    this.clients = Array.from({ length: clients }, (_, client) => this.runClient(client));
  }

  /** Waits until every running answer has ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.clients);
  }

  private async runClient(client: number): Promise<void> {
    for (let turn = 0; !this.stopping; turn += 1) {
      const call: ClientCall = { reference: `client-${client}-${turn}`, outcome: 'running' };
      this.calls.push(call);
      await this.stream(call).catch(() => {
        call.outcome = 'broken';
      });
      if (call.outcome !== 'whole') await Bun.sleep(100);
    }
  }

  private async stream(call: ClientCall): Promise<void> {
    const response = await fetch(`${this.target.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.target.api_key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        stream: true,
        user: call.reference,
        messages: [{ role: 'user', content: this.prompt }],
      }),
    });
    call.status = response.status;
    if (!response.ok || !response.body) {
      call.outcome = 'refused';
      await response.text();
      return;
    }
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true });
      call.request_id ??= /"id":"chatcmpl-([0-9a-f]{32})"/.exec(text)?.[1];
      if (text.endsWith('data: [DONE]\n\n')) call.outcome = 'whole';
    }
    if (call.outcome === 'running' || text.includes('"error"')) call.outcome = 'broken';
  }
}
