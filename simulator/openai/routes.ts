import { answerCall, type Simulator } from '../exchange.ts';
import { ProviderError } from '../shared/protocol.ts';
import { newId } from '../shared/random.ts';
import { connectionReset } from '../shared/resets.ts';
import { disconnectsWithin } from '../shared/waiting.ts';
import { audioToText, embeddings } from './direct.ts';
import { errorBody, modelNotFound, unknownUrl } from './errors.ts';
import { openaiChat, openaiHeaders } from './protocol.ts';
import { openaiResponses } from './responses.ts';
import { speech } from './speech.ts';

const MODELS = [
  ...[
    'gpt-3.5-turbo',
    'gpt-4o',
    'gpt-4o-2024-11-20',
    'gpt-4o-mini',
    'gpt-5',
    'gpt-5-mini',
    'o4-mini',
  ],
  ...['text-embedding-3-small', 'text-embedding-3-large', 'whisper-1', 'tts-1', 'gpt-image-1'],
  ...['dall-e-3', 'omni-moderation-latest'],
];
const CREATED = 1_715_367_049;

/** Handles requests below `/openai/v1`; `path` is the rest of the path. */
export function openaiRoute(
  simulator: Simulator,
  path: string,
  request: Request,
): Response | Promise<Response> {
  if (path === '/chat/completions' && request.method === 'POST') {
    return answerCall(simulator, openaiChat, request);
  }
  if (path === '/responses' && request.method === 'POST') {
    return answerCall(simulator, openaiResponses, request);
  }
  const key = request.headers.get('authorization')?.slice('Bearer '.length);
  if (path === '/embeddings') return embeddings(simulator, request, key);
  if (path === '/audio/speech') return speech(simulator, request, key);
  if (path === '/audio/translations') return audioToText(simulator, request, key, 'translate');
  if (path === '/audio/transcriptions') return audioToText(simulator, request, key, 'transcribe');
  return models(simulator, path, request);
}

async function models(simulator: Simulator, path: string, request: Request): Promise<Response> {
  try {
    const account = simulator.accounts.findByKey(openaiChat.keyIn(request.headers));
    if (account === undefined || account.control.revoked) throw openaiChat.wrongKey('');
    const { latency_ms = 0 } = account.control;
    if (latency_ms > 0 && (await disconnectsWithin(request.signal, latency_ms))) {
      return connectionReset();
    }
    return answer(200, JSON.stringify(modelsAt(path, request.method)));
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return answer(error.status, errorBody(error));
  }
}

function modelsAt(path: string, method: string): object {
  if (method !== 'GET' || !path.startsWith('/models')) throw unknownUrl(method, `/v1${path}`);
  if (path === '/models') return { object: 'list', data: MODELS.map(model) };
  const id = decodeURIComponent(path.slice('/models/'.length));
  if (id.startsWith('missing-')) throw modelNotFound(id);
  return model(id);
}

function model(id: string): object {
  return { id, object: 'model', created: CREATED, owned_by: 'system' };
}

function answer(status: number, body: string): Response {
  const headers = { ...openaiHeaders(newId('req_'), 1), 'content-type': 'application/json' };
  return new Response(body, { status, headers });
}
