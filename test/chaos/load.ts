import { Random } from '../sim/random.ts';
import type { Witness } from '../support/books/pairing.ts';
import { Clients } from './clients.ts';

/** What one streaming client saw. Its `request_id` is the id from the answer. */
export interface ClientCall extends Witness {
  request_id?: string | undefined;
  outcome: Witness['outcome'];
  status?: number;
}

const MODEL = 'gpt-4o-mini';
const CHUNK_MS = 15;
/** Each answer has its own length, so that a charge for another call has other tokens. */
const TOKENS = { least: 40, spread: 40 };

/**
 * Clients that stream one answer after the other until `stop` is called. The seed decides the
 * length of each answer.
 */
export class Load extends Clients {
  readonly calls: ClientCall[] = [];

  protected async runClient(client: number): Promise<void> {
    for (let turn = 0; !this.stopping; turn += 1) {
      const reference = `client-${client}-${turn}`;
      const call: ClientCall = { reference, model: MODEL, outcome: 'running' };
      this.calls.push(call);
      const random = new Random(Bun.hash.crc32(`${this.seed} ${reference}`));
      const tokens = TOKENS.least + random.below(TOKENS.spread);
      const prompt = `Count slowly. [[sim tokens=${tokens} chunk_ms=${CHUNK_MS}]]`;
      await this.stream(call, prompt).catch(() => {
        call.outcome = 'broken';
      });
      if (call.outcome !== 'whole') await Bun.sleep(100);
    }
  }

  private async stream(call: ClientCall, content: string): Promise<void> {
    const response = await this.request('/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({
        model: MODEL,
        stream: true,
        user: call.reference,
        messages: [{ role: 'user', content }],
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
