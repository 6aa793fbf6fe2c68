/** Anthropic's models at AWS (AWS docs: InvokeModel, InvokeModelWithResponseStream). */
import { AwsV4Signer } from 'aws4fetch';
import { anthropicMessages } from '../anthropic/protocol.ts';
import { answerCall, type Simulator } from '../exchange.ts';
import { isObject } from '../shared/json.ts';
import { framed } from './frames.ts';

/** The secret of every access key `sim-ACCOUNT`; each account has the same secret. */
const SECRET_ACCESS_KEY = 'sim-secret';
/** The second version is that of @anthropic-ai/bedrock-sdk 1.1.3, which sends its header in the body. */
const VERSIONS: readonly unknown[] = ['bedrock-2023-05-31', '2026-10-21'];
const PATH = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream)$/;
const SIGNED =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/bedrock\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
/** The largest accepted difference between the signature's time and the clock. */
const SKEW_MS = 300_000;

export async function bedrockRoute(
  simulator: Simulator,
  path: string,
  request: Request,
): Promise<Response> {
  const [, model = '', method = ''] = PATH.exec(path) ?? [];
  if (model === '') return refusal(404, 'UnknownOperationException', 'Unknown operation');
  const text = await request.text();
  const key = await accountKey(request, text);
  if (!key) {
    const words = 'The request signature we calculated does not match the signature you provided.';
    return refusal(403, 'InvalidSignatureException', words);
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return refusal(400, 'ValidationException', 'Malformed input request');
  }
  if (!isObject(body) || !VERSIONS.includes(body['anthropic_version'])) {
    return refusal(400, 'ValidationException', 'anthropic_version: Field required');
  }
  const strange = ['model', 'stream'].find((name) => name in body);
  if (strange) {
    const words = `Malformed input request: #: extraneous key [${strange}] is not permitted`;
    return refusal(400, 'ValidationException', words);
  }
  const { anthropic_version, anthropic_beta: __, ...rest } = body;
  const streamed = method !== 'invoke';
  const inner = new Request(request.url, {
    method: 'POST',
    headers: {
      ...{
        'x-api-key': key,
        'anthropic-version': String(anthropic_version).replace(/^bedrock-.*/, '2023-06-01'),
      },
      'content-type': 'application/json',
    },
    body: JSON.stringify({ ...rest, model: decodeURIComponent(model), stream: streamed }),
    signal: request.signal,
  });
  const answer = await answerCall(simulator, { ...anthropicMessages, name: 'bedrock' }, inner);
  const headers = new Headers({ 'x-amzn-requestid': 'SIM-request' });
  const retry = answer.headers.get('retry-after');
  if (retry) headers.set('retry-after', retry);
  if (!answer.ok) {
    const failure = (await answer.json()) as { error: { message: string } };
    const type = answer.status === 429 ? 'ThrottlingException' : 'ValidationException';
    return refusal(answer.status, type, failure.error.message, headers);
  }
  headers.set('content-type', answer.headers.get('content-type') ?? 'application/json');
  if (!streamed || !answer.body) return new Response(answer.body, { headers });
  headers.set('content-type', 'application/vnd.amazon.eventstream');
  return new Response(framed(answer.body), { headers });
}

/**
 * Returns the account's key: the bearer key, or the access key that signed the request. Returns
 * undefined if the signature is wrong or its time is too far from the clock.
 */
async function accountKey(request: Request, body: string): Promise<string | undefined> {
  const authorization = request.headers.get('authorization') ?? '';
  if (authorization.startsWith('Bearer ')) return authorization.slice('Bearer '.length);
  const [, accessKeyId = '', region = '', names = '', signature] = SIGNED.exec(authorization) ?? [];
  const datetime = request.headers.get('x-amz-date') ?? '';
  const at = Date.parse(datetime.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - at) < SKEW_MS)) return undefined;
  const headers = new Headers();
  for (const name of names.split(';')) {
    const value = request.headers.get(name);
    if (value !== null && name !== 'host') headers.set(name, value);
  }
  const { headers: right } = await new AwsV4Signer({
    ...{ url: request.url, method: 'POST', body, headers, service: 'bedrock', region, datetime },
    ...{ accessKeyId, secretAccessKey: SECRET_ACCESS_KEY },
    // An SDK chooses which headers it signs, and `headers` has only these.
    allHeaders: true,
  }).sign();
  return right.get('authorization')?.endsWith(`Signature=${signature}`) ? accessKeyId : undefined;
}

function refusal(status: number, type: string, message: string, more = new Headers()): Response {
  more.set('x-amzn-errortype', type);
  more.set('content-type', 'application/json');
  return new Response(JSON.stringify({ message }), { status, headers: more });
}
