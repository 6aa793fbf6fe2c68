/**
 * The packages of vendors that speak OpenAI's chat completions. A package tells how the vendor is
 * called and how its answers are read. Weir is compared with it.
 */
import { createAlibaba } from '@ai-sdk/alibaba';
import { createDeepSeek } from '@ai-sdk/deepseek';
import { createGroq } from '@ai-sdk/groq';
import { createMistral } from '@ai-sdk/mistral';
import { createMoonshotAI } from '@ai-sdk/moonshotai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { DialectName } from '../../../../src/protocols/dialects.ts';

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The tokens that a package reads from an answer. */
interface VendorUsage {
  readonly inputTokens: {
    readonly total: number | undefined;
    readonly cacheRead: number | undefined;
    readonly cacheWrite: number | undefined;
  };
  readonly outputTokens: { readonly total: number | undefined };
}

/** A model of a package. Packages are built with different versions of the AI SDK's types. */
export interface VendorModel {
  doGenerate(options: LanguageModelV4CallOptions): PromiseLike<{
    readonly content: readonly { readonly type: string; readonly text?: string }[];
    readonly usage: VendorUsage;
  }>;
  doStream(options: LanguageModelV4CallOptions): PromiseLike<{ readonly stream: ReadableStream }>;
}

/** Returns the model of a vendor's package, whose requests go to `fetch`. */
type MakeModel = (fetch: typeof globalThis.fetch, id?: string) => VendorModel;

const api_key = { apiKey: 'sk-vendor' };

const PACKAGES = {
  mistral: (fetch, id = 'magistral-medium-latest') => createMistral({ ...api_key, fetch })(id),
  groq: (fetch, id = 'llama-3.3-70b-versatile') => createGroq({ ...api_key, fetch })(id),
  deepseek: (fetch, id = 'deepseek-chat') => createDeepSeek({ ...api_key, fetch })(id),
  moonshot: (fetch, id = 'kimi-k2-0905-preview') => createMoonshotAI({ ...api_key, fetch })(id),
  dashscope: (fetch, id = 'qwen-plus') => createAlibaba({ ...api_key, fetch })(id),
  compatible: (fetch, id = 'own-model') =>
    createOpenAICompatible({
      ...api_key,
      ...{ name: 'own', baseURL: 'https://models.example.com/v1', includeUsage: true, fetch },
    })(id),
} as const satisfies Partial<Record<DialectName, MakeModel>>;

export type PackageName = keyof typeof PACKAGES;
export const PACKAGE_NAMES = Object.keys(PACKAGES) as PackageName[];

/** Returns a model of a package whose server is `answer`. */
export function modelOf(name: PackageName, answer: Fetch, id?: string): VendorModel {
  const make: MakeModel = PACKAGES[name];
  return make(Object.assign(answer, { preconnect: () => undefined }) as typeof fetch, id);
}

/** A request with the settings that the vendors name differently. */
export const OPTIONS: LanguageModelV4CallOptions = {
  prompt: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  ],
  maxOutputTokens: 50,
  seed: 7,
};

/** A request that a package sent. */
export interface Sent {
  url: string;
  body: Record<string, unknown>;
}

/** Returns the request that a package sends for a stream or for a whole answer. */
export async function sentBy(
  name: PackageName,
  kind: 'doStream' | 'doGenerate',
  options: LanguageModelV4CallOptions = OPTIONS,
  id?: string,
): Promise<Sent> {
  let sent: Sent | undefined;
  const model = modelOf(
    name,
    async (url, init) => {
      sent = { url: String(url), body: JSON.parse(String(init?.body)) };
      return Response.json({ error: { message: 'enough' } }, { status: 400 });
    },
    id,
  );
  await Promise.resolve(model[kind](options)).catch(() => undefined);
  if (!sent) throw new Error(`${name} sent nothing`);
  return sent;
}
