/**
 * Clients of every kind. Each client sends one call after the other and records the outcome of each
 * call.
 */

type Kind = 'chat' | 'chat stream' | 'messages' | 'messages stream' | 'task';

export interface MixedCall {
  kind: Kind;
  /** Identifies the call in the provider's books. */
  reference: string;
  outcome: 'running' | 'whole' | 'broken' | 'refused';
  /** Identifies the call in the ledger, in hexadecimal. */
  request_id?: string;
  task_id?: string;
}

const PATHS: Record<Kind, string> = {
  chat: '/v1/chat/completions',
  'chat stream': '/v1/chat/completions',
  messages: '/v1/messages',
  'messages stream': '/v1/messages',
  task: '/v1/videos/generations',
};
const KINDS = Object.keys(PATHS) as Kind[];
/** How a stream of each route ends. */
const ENDS = { 'chat stream': 'data: [DONE]\n\n', 'messages stream': '"message_stop"}\n\n' };
/** A client whose call failed waits this long before its next call. */
const PAUSE_MS = 50;
/** Tasks are expensive and slow, so their clients wait longer between two calls. */
const TASK_PAUSE_MS = 200;

export class MixedLoad {
  readonly calls: MixedCall[] = [];
  private isStopping = false;
  private readonly clients: Promise<void>[];

  constructor(
    private readonly target: { base_url: string; api_key: string },
    clients: number,
    /** Begins each reference. It differs between loads that run at the same time. */
    private readonly prefix = '',
  ) {
    this.clients = Array.from({ length: clients }, (_, client) => this.run(client));
  }

  /** Waits until every running call has ended, with success or not. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.clients);
  }

  private async run(client: number): Promise<void> {
    const kind = KINDS[client % KINDS.length] ?? 'chat';
    for (let turn = 0; !this.isStopping; turn += 1) {
      const call: MixedCall = {
        kind,
        reference: `${this.prefix}${client}-${turn}`,
        outcome: 'running',
      };
      this.calls.push(call);
      await this.make(call, turn).catch(() => {
        call.outcome = 'broken';
      });
      if (call.outcome !== 'whole') await Bun.sleep(PAUSE_MS);
      if (kind === 'task') await Bun.sleep(TASK_PAUSE_MS);
    }
  }

  private async make(call: MixedCall, turn: number): Promise<void> {
    const response = await fetch(this.target.base_url + PATHS[call.kind], {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.target.api_key}`,
        ...{ 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
        ...(call.kind === 'task' ? { 'idempotency-key': call.reference } : {}),
      },
      body: JSON.stringify(bodyOf(call, turn)),
    });
    const id = response.headers.get('x-request-id')?.replace('req_', '');
    if (id !== undefined) call.request_id = id;
    if (!response.ok) {
      call.outcome = 'refused';
      await response.text();
      return;
    }
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    if (call.kind === 'task') call.task_id = (JSON.parse(text) as { id: string }).id;
    call.outcome = isWhole(call.kind, text) ? 'whole' : 'broken';
  }
}

function isWhole(kind: Kind, text: string): boolean {
  if (kind === 'chat stream' || kind === 'messages stream') return text.endsWith(ENDS[kind]);
  JSON.parse(text);
  return true;
}

function bodyOf({ kind, reference }: MixedCall, turn: number): object {
  if (kind === 'task') {
    const prompt = `A lighthouse ${reference} [[sim task_ms=${100 + (turn % 5) * 150}]]`;
    return { model: 'veo-3.1-fast', prompt, duration: 4 };
  }
  const stream = kind.endsWith('stream');
  const pace = stream ? 'chunk_ms=10' : 'latency_ms=150';
  const content = `Count slowly. [[sim tokens=${20 + (turn % 30)} ${pace}]]`;
  const messages = [{ role: 'user', content }];
  return kind.startsWith('chat')
    ? { model: 'gpt-4o-mini', stream, user: reference, messages }
    : {
        ...{ model: 'claude-haiku-4-5', stream, max_tokens: 200, messages },
        metadata: { user_id: reference },
      };
}
