import { answerCall, type Simulator } from '../exchange.ts';
import {
  accountOrRefusal,
  bodyOf,
  jobs,
  refusalOfPoll,
  submitJob,
  type Wording,
} from '../tasks/desk.ts';
import { serveFile } from '../tasks/files.ts';
import { type Job, stateOf } from '../tasks/jobs.ts';
import { MEDIA_TYPES, mediaOf } from '../tasks/media.ts';
import { geminiChat } from './chat.ts';
import { geminiEmbeddings } from './embeddings.ts';
import { geminiModelInfo, geminiModelPage } from './models.ts';
import { geminiSpeech } from './speech.ts';

/** The errors of the Gemini API. It makes images by generateContent, and Veo's videos by operations. */
const wording: Wording = {
  wrongKey: () =>
    error(400, 'API key not valid. Please pass a valid API key.', 'INVALID_ARGUMENT', [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        ...{ reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
        metadata: { service: 'generativelanguage.googleapis.com' },
      },
    ]),
  refusal(status, why) {
    switch (why) {
      case 'moderation':
        return Response.json({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } });
      case 'throttle':
      case 'quota':
        return error(429, 'Resource has been exhausted (e.g. check quota).', 'RESOURCE_EXHAUSTED');
      case 'input':
        return error(400, 'Request contains an invalid argument.', 'INVALID_ARGUMENT');
      default:
        return error(status, 'An internal error has occurred.', 'INTERNAL');
    }
  },
};
/** Parameters that Vertex AI accepts and this API refuses. */
const REFUSED_PARAMETERS = ['seed', 'fps', 'generateAudio', 'storageUri'];
const TOKENS_PER_IMAGE = 1_290;
/**
 * The path of a model that creates text, speech or images. Models with `image` in their names create
 * images. Models with `tts` create speech. All others create text.
 */
const WORDS = /^\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;
const EDGES: Record<string, number> = { '1K': 1_024, '2K': 2_048, '4K': 4_096 };

interface Body {
  contents?: { parts?: { text?: string; inlineData?: object }[] }[];
  generationConfig?: { imageConfig?: { aspectRatio?: string; imageSize?: string } };
  instances?: { prompt?: string }[];
  parameters?: Record<string, unknown>;
}

export async function googleRoute(
  sim: Simulator,
  path: string,
  request: Request,
): Promise<Response> {
  const embedder = /^\/models\/([^/:]+):batchEmbedContents$/.exec(path)?.[1];
  if (embedder) return geminiEmbeddings(sim, decodeURIComponent(embedder), request);
  const [, talker = '', method] = WORDS.exec(path) ?? [];
  if (talker.includes('tts')) return geminiSpeech(sim, decodeURIComponent(talker), request);
  if (method && !talker.includes('image')) {
    const chat = geminiChat(decodeURIComponent(talker), method === 'streamGenerateContent');
    return answerCall(sim, chat, request);
  }
  const account = accountOrRefusal(sim, request.headers.get('x-goog-api-key'), wording);
  if (account instanceof Response) return account;
  const { origin, searchParams } = new URL(request.url);
  if (path.startsWith('/files/')) return serveVideo(account.id, path);
  if (request.method === 'GET' && path === '/models') {
    const page = geminiModelPage(searchParams);
    return page ? Response.json(page) : wording.refusal(400, 'input');
  }
  const listed = /^\/models\/([^/:]+)$/.exec(path)?.[1];
  if (request.method === 'GET' && listed) {
    if (listed.startsWith('missing-')) return error(404, 'Model is not found.', 'NOT_FOUND');
    return Response.json(geminiModelInfo(decodeURIComponent(listed)));
  }
  const operation = /^\/models\/[^/]+\/operations\/([^/]+)$/.exec(path)?.[1];
  if (operation) {
    const job = jobs.find(account.id, operation);
    if (!job) return error(404, 'Operation not found.', 'NOT_FOUND');
    return refusalOfPoll(job, wording) ?? Response.json(operationOf(job, origin));
  }
  const [, model = '', verb] = /^\/models\/([^/:]+):(\w+)$/.exec(path) ?? [];
  const body = (await bodyOf(request)) as Body;
  if (verb === 'predictLongRunning') {
    const wrong = REFUSED_PARAMETERS.find((name) => name in (body.parameters ?? {}));
    if (wrong) return error(400, `\`${wrong}\` isn't supported by this model.`, 'INVALID_ARGUMENT');
    const duration = Number(body.parameters?.['durationSeconds'] ?? 8);
    const prompt = body.instances?.[0]?.prompt ?? '';
    const order = { protocol: 'veo', model, prompt, kind: 'video' as const, outputs: 1, duration };
    const accepted = await submitJob(sim, account, order, wording, request.signal);
    if ('answer' in accepted) return accepted.answer;
    return Response.json({ name: `models/${model}/operations/${accepted.job.id}` });
  }
  if (verb !== 'generateContent') return error(404, 'Not found.', 'NOT_FOUND');
  const parts = body.contents?.flatMap((content) => content.parts ?? []) ?? [];
  const prompt = parts.map(({ text = '' }) => text).join(' ');
  if (prompt === '') return wording.refusal(400, 'input');
  const [width, height] = shapeOf(body);
  const order = {
    protocol: 'gemini',
    model,
    prompt,
    kind: 'image' as const,
    outputs: 1,
    width,
    height,
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  if ('answer' in accepted) return accepted.answer;
  const { job, script } = accepted;
  if (script.fail === 'moderation') {
    return Response.json({ candidates: [{ content: {}, finishReason: 'IMAGE_SAFETY', index: 0 }] });
  }
  if (script.fail)
    return wording.refusal(
      script.fail === 'input' ? 400 : 500,
      script.fail === 'input' ? 'input' : 'server',
    );
  const data = Buffer.from(mediaOf('image', job.id, width, height)).toString('base64');
  const picture = script.no_url ? [] : [{ inlineData: { mimeType: 'image/png', data } }];
  const promptTokenCount = Math.ceil(prompt.length / 4);
  return Response.json({
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'Here it is.' }, ...picture] },
        finishReason: script.no_url ? 'NO_IMAGE' : 'STOP',
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount,
      candidatesTokenCount: TOKENS_PER_IMAGE,
      totalTokenCount: promptTokenCount + TOKENS_PER_IMAGE,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokenCount }],
    },
    modelVersion: model,
    responseId: job.id,
  });
}

function shapeOf({ generationConfig }: Body): [number, number] {
  const { aspectRatio = '1:1', imageSize = '1K' } = generationConfig?.imageConfig ?? {};
  const [across = 1, down = 1] = aspectRatio.split(':').map(Number);
  const edge = EDGES[imageSize] ?? 1_024;
  return across >= down
    ? [edge, Math.round((edge * down) / across)]
    : [Math.round((edge * across) / down), edge];
}

function operationOf(job: Job, origin: string): object {
  const name = `models/${job.model}/operations/${job.id}`;
  const state = stateOf(job);
  if (state === 'queued' || state === 'processing') return { name };
  if (state === 'done') {
    const uri = `${origin}/google/v1beta/files/${job.id}:download?alt=media`;
    const generatedSamples = job.script.no_url ? [] : [{ video: { uri } }];
    return { name, done: true, response: { generateVideoResponse: { generatedSamples } } };
  }
  if (job.script.fail === 'moderation') {
    const filtered = {
      raiMediaFilteredCount: 1,
      raiMediaFilteredReasons: ['The prompt violated the safety policy.'],
    };
    return { name, done: true, response: { generateVideoResponse: filtered } };
  }
  return { name, done: true, error: { code: 13, message: 'Internal error.', status: 'INTERNAL' } };
}

function serveVideo(account: string, path: string): Response {
  const id = /^\/files\/([^:]+):download$/.exec(path)?.[1] ?? '';
  const job = jobs.find(account, id);
  if (!job) return serveFile('', new Request('http://localhost/'));
  return new Response(mediaOf('video', id), { headers: { 'content-type': MEDIA_TYPES.video } });
}

function error(code: number, message: string, status: string, details?: object[]): Response {
  return Response.json({ error: { code, message, status, details } }, { status: code });
}
