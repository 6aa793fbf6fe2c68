/** The chat models of the catalogue, and what is sent for them: by Weir, and by a package. */

import { abilitiesOn } from '../../../src/catalogue/abilities.ts';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import type { ChatProtocol, ClientProtocol } from '../../../src/protocols/names.ts';
import { requestProtocolOf } from '../../../src/upstreams/chat/protocols.ts';
import { translateCall } from '../../../src/upstreams/translation/translate.ts';
import { callOf } from '../upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols, read by hand.
export type Json = Record<string, any>;

export const CHAT_MODELS = builtInModels().filter(({ category }) => category === 'chat');

/** What Weir sends to a channel of a protocol for a request of a client. */
export function sentByWeir(
  id: string,
  client: ClientProtocol,
  protocol: ChatProtocol,
  body: Json,
): Json {
  const model = CHAT_MODELS.find((each) => each.id === id);
  if (!model) throw new Error(`no model ${id}`);
  const call = callOf('http://localhost', body, {
    model_max_output_tokens: model.max_output_tokens ?? 16_384,
    model_abilities: abilitiesOn(model.abilities, protocol),
  });
  return translateCall(client, requestProtocolOf(protocol), call).call.body;
}

type Fetch = typeof globalThis.fetch;

/** What a package of the AI SDK sends. The answer is an error, because only the request matters. */
export async function sentBy(
  modelOf: (fetch: Fetch) => { doGenerate: (options: never) => PromiseLike<unknown> },
  options: Json,
): Promise<Json> {
  let body: Json = {};
  const fetch = async (_: unknown, init?: RequestInit) => {
    body = JSON.parse(String(init?.body));
    return new Response('{}', { status: 400 });
  };
  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }];
  await Promise.resolve(
    modelOf(Object.assign(fetch, { preconnect: () => undefined }) as Fetch).doGenerate({
      ...{ prompt, ...options },
    } as never),
  ).catch(() => undefined);
  return body;
}

/** The parameter that Weir refuses with a 400; undefined if it refuses nothing. */
export function refusedParameter(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!(error instanceof WeirError) || error.entry.status !== 400) throw error;
    return String(error.details.param);
  }
}
