/** Refusals of paths that Weir does not have. They name what Weir offers instead. */
import { WeirError } from '../errors/weir-error.ts';
import type { RequestContext } from './endpoint.ts';

const CHAT = 'POST /v1/chat/completions, /v1/responses, /v1/messages or a Gemini model';
const IMAGES = 'Use POST /v1/images/generations.';
const VIDEOS = 'Use POST /v1/videos/generations and GET /v1/tasks/{id}.';
const FILES = 'Send files inline, as Base64, in the request that uses them.';
const BATCHES = 'POST /v1/messages/batches. It takes every chat model.';

/** The paths of a resource, in every version of a vendor's API. */
const of = (resources: string) =>
  new RegExp(`^(?:/upload)?/v1(?:alpha|beta)?/(?:${resources})(?:[/:]|$)`);

/**
 * Routes of vendors that Weir does not offer, and what it offers instead (the packages openai,
 * @anthropic-ai/sdk and @google/genai request them, and the documents of other vendors name them).
 * The first match counts.
 */
const NOT_OFFERED: readonly [path: RegExp, instead: string][] = [
  [/^\/v1\/responses\/compact$/, 'Send the whole conversation to POST /v1/responses.'],
  [/^\/v1\/responses\/input_tokens/, 'POST /v1/messages/count_tokens counts tokens of any model.'],
  [/^\/v1\/images\/variations$/, 'Use POST /v1/images/edits with a prompt.'],
  [/^\/v1\/(?:complete|completions)$/, `Use ${CHAT}.`],
  [of('assistants|threads|conversations|chatkit|sessions|vaults'), `Use ${CHAT}.`],
  [of('agents|triggers|environments|credentials|skills'), `Use ${CHAT}, with tools of your own.`],
  // The API before Gemini, which promptfoo requests for names that do not begin with `gemini`.
  [/^\/v1beta[23]\//, 'Use POST /v1beta/models/{model}:generateContent.'],
  [of('interactions'), 'Use generateContent of the model, with the whole conversation.'],
  [of('realtime|live'), 'Use POST /v1/audio/speech and POST /v1/audio/transcriptions.'],
  [
    of('audio/voices|audio/voice_consents|voices'),
    'POST /v1/audio/speech takes the voices of its model.',
  ],
  [of('videos'), VIDEOS],
  [of('batches|batchPredictionJobs'), `Use ${BATCHES}`],
  [of('cachedContents|caches'), 'Providers cache prompts by themselves.'],
  [of('vector_stores|embeddings'), 'Use POST /v1/embeddings and POST /v1/rerank.'],
  [of('files|uploads|containers|fileSearchStores'), FILES],
  [of('webhooks'), 'Send webhook_url when you create a generation. Weir calls it at the end.'],
  [of('auth_tokens'), 'POST /v1/management/api-keys creates a key that has a limit and expires.'],
  [
    of('fine_tuning|tuningJobs|tunedModels'),
    'GET /v1/models lists the models. None is trained here.',
  ],
  // Amazon Bedrock, and the models of other vendors on Vertex AI.
  [/^\/model\/.+\/(?:converse|invoke)(?:-|$)/, `Use ${CHAT}.`],
  [/\/publishers\/[^/]+\/models\//, `Use ${CHAT}.`],
  // ElevenLabs, MiniMax, Luma and Seedream.
  [of('text-to-speech|t2a_v2'), 'Use POST /v1/audio/speech.'],
  [of('speech-to-text'), 'Use POST /v1/audio/transcriptions.'],
  [of('sound-generation'), 'Use POST /v1/audio/generations.'],
  [/^\/v1\/music(?:_generation)?$/, 'Use POST /v1/music/generations.'],
  [of('text/chatcompletion_v2'), `Use ${CHAT}.`],
  [/^\/(?:v1\/image_generation|api\/v3\/images\/generations)$/, IMAGES],
  [/^\/dream-machine\/v1\/generations\/image$/, IMAGES],
  [/^\/(?:dream-machine\/v1|api\/v3\/contents\/generations)\//, VIDEOS],
  [/^\/v[12]\/video_generation$/, VIDEOS],
  [of('organizations?'), 'The routes below /v1/management manage keys and the balance.'],
];

/** Methods of Google's models that Weir does not offer, and what it offers instead. */
export const GEMINI_INSTEAD: Readonly<Record<string, string>> = {
  embedContent: 'Use POST /v1/embeddings.',
  batchEmbedContents: 'Use POST /v1/embeddings.',
  asyncBatchEmbedContent: 'Use POST /v1/embeddings.',
  predict: 'Use POST /v1/images/generations.',
  generateImages: 'Use POST /v1/images/generations.',
  predictLongRunning: 'Use POST /v1/videos/generations.',
  batchGenerateContent: `Use ${BATCHES}`,
};

const MAX_QUOTED_CHARS = 200;

/** Returns the refusal of a path that a vendor has and Weir has not; undefined for other paths. */
export function notOffered(request: Request): WeirError | undefined {
  const path = pathOf(request);
  const instead = NOT_OFFERED.find(([pattern]) => pattern.test(path))?.[1];
  if (instead === undefined) return undefined;
  return new WeirError('not_found', `${quoted(request)} is not offered.`, { hint: instead });
}

/**
 * Returns the handler of unknown paths. `paths` are the paths of all routes, as patterns. If only the
 * base URL of the client is wrong, the hint names the right path.
 */
export function refuseUnknownPath(paths: readonly string[]) {
  const patterns = paths.map(
    (path) => new RegExp(`^${path.replace(/:[A-Za-z]+/g, '[^/]+').replaceAll('*', '.+')}$`),
  );
  return ({ request }: RequestContext): never => {
    const path = pathOf(request);
    const at = path.lastIndexOf('/v1');
    const meant = [path.slice(Math.max(at, 0)), `/v1${path}`].find(
      (each) => each !== path && patterns.some((pattern) => pattern.test(each)),
    );
    const message = `There is no ${quoted(request)}.`;
    if (meant !== undefined) {
      const right = meant.slice(0, MAX_QUOTED_CHARS);
      throw new WeirError('not_found', message, {
        hint: `The base URL of the client is wrong. The path is ${right}.`,
      });
    }
    throw (
      notOffered(request) ??
      new WeirError('not_found', message, {
        hint: `For chat, use ${CHAT}. GET /v1/models lists the models and what they do.`,
      })
    );
  };
}

function pathOf({ url }: Request): string {
  return new URL(url).pathname;
}

function quoted(request: Request): string {
  return `${request.method} ${pathOf(request).slice(0, MAX_QUOTED_CHARS)}`;
}
