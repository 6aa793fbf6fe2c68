/**
 * DeepL's translations (DeepL docs: Translate). Directives for the simulator (`[[sim …]]`) are in the
 * first text.
 */
import type { Simulator } from '../exchange.ts';
import { answerDirect, type DirectWording } from '../shared/direct.ts';
import { isObject } from '../shared/json.ts';
import { ProviderError } from '../shared/protocol.ts';

const MAX_TEXTS = 50;
const MODELS = ['quality_optimized', 'prefer_quality_optimized', 'latency_optimized'];

const refusal = (status: number, message: string, retry_after?: number) =>
  new ProviderError(status, 'error', message, null, null, retry_after);

/** DeepL docs: Error handling. */
const WORDS: Record<number, string> = {
  400: 'Bad request. Reason: the request was refused',
  429: 'Too many requests',
};

const WORDING: DirectWording = {
  protocol: 'deepl',
  wrongKey: () => refusal(403, 'Authorization failure, check auth_key'),
  refusal: (status, { quota, retry_after }) =>
    quota === 1
      ? refusal(456, 'Quota Exceeded')
      : refusal(status, WORDS[status] ?? 'Internal error', retry_after),
  missing: () => refusal(400, 'Value for model_type not supported.'),
  invalid: (message) => refusal(400, message),
  body: ({ message }) => JSON.stringify({ message }),
  headers: (id) => ({ 'x-trace-id': id }),
};

export async function deeplRoute(
  sim: Simulator,
  path: string,
  request: Request,
): Promise<Response> {
  if (path !== '/v2/translate') return new Response(null, { status: 404 });
  const [scheme, key] = request.headers.get('authorization')?.split(' ') ?? [];
  const known = scheme === 'DeepL-Auth-Key' ? key : undefined;
  return answerDirect(sim, request, known, WORDING, async (begin) => {
    const body = await bodyOf(request);
    if (!isObject(body)) throw WORDING.invalid('Invalid request body.');
    const { text, target_lang, source_lang, model_type } = body;
    if (!Array.isArray(text) || text.length > MAX_TEXTS) {
      throw WORDING.invalid('Parameter text not specified or too many texts.');
    }
    if (typeof target_lang !== 'string') {
      throw WORDING.invalid('Value for target_lang not supported.');
    }
    const model = String(model_type ?? 'latency_optimized');
    if (!MODELS.includes(model)) throw WORDING.missing('');
    const call = await begin(model, String(text[0] ?? ''), body);
    const translations = text.map((each) => {
      const billed_characters = [...String(each)].length;
      call.prompt_tokens += billed_characters;
      return {
        detected_source_language: String(source_lang ?? 'EN').toUpperCase(),
        text: `[${target_lang}] ${each}`,
        billed_characters,
        ...(model_type === undefined ? {} : { model_type_used: model }),
      };
    });
    return Response.json({ translations });
  });
}

/** The body as JSON, or as a form (DeepL's SDKs send forms, with one `text` for each text). */
async function bodyOf(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!type.startsWith('application/x-www-form-urlencoded')) return request.json();
  const form = new URLSearchParams(await request.text());
  return { ...Object.fromEntries(form), text: form.getAll('text') };
}
