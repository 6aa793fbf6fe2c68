import { AwsV4Signer } from 'aws4fetch';
import type { Edit } from '../../json/members.ts';
import type { UpstreamCall, UpstreamProtocol } from '../contract.ts';
import {
  commonEdits,
  requestAnswer,
  requestStream,
  type UpstreamRequest,
} from '../pass-through/request.ts';
import { messageSearchLimits } from '../pass-through/web-search.ts';
import { toServerSentEvents } from '../stream/aws-event-stream.ts';
import {
  answerOfMessages,
  messagesLimits,
  ownThinkingOnly,
  withoutOwnMessage,
} from './anthropic.ts';
import { MessageStream } from './anthropic-stream.ts';
import { betaEdits, betasOf, refusesBetas, toolEdit } from './bedrock-limits.ts';

/** The value of `anthropic_version` for Bedrock (AWS docs: Anthropic Claude Messages API). */
const VERSION = '"bedrock-2023-05-31"';
const DEFAULT_REGION = 'us-east-1';

/**
 * Anthropic's models on AWS (AWS docs: InvokeModel, InvokeModelWithResponseStream). A channel's key is
 * `ACCESS_KEY_ID:SECRET_ACCESS_KEY` with an optional `:SESSION_TOKEN`, or an API key of Bedrock.
 */
export const bedrockProtocol: UpstreamProtocol = {
  name: 'bedrock',
  complete: (call) => requestAnswer(call, requestOf(call, 'invoke'), answerOfMessages),
  stream: (call) =>
    requestStream(
      call,
      { ...requestOf(call, 'invoke-with-response-stream'), unwrap: toServerSentEvents },
      new MessageStream(call),
    ),
};

/**
 * Returns the request of a call. If a model refuses one of the beta flags, the request is sent again
 * at once with the flags that every model accepts. Nothing is remembered, because the client chose
 * the flags.
 */
function requestOf(call: UpstreamCall, method: string, isStrict = false): UpstreamRequest {
  const { target, physical_model } = call;
  const searchLimits = messageSearchLimits(call.body);
  const tools = toolEdit(call, searchLimits['tools']);
  const edits: Record<string, Edit> = {
    ...commonEdits(call),
    ...messagesLimits(call),
    ...(tools === undefined ? {} : { tools }),
    ...betaEdits(call, isStrict),
    ...withoutOwnMessage(call.body),
    ...ownThinkingOnly(call),
    // The path contains the model, and its last segment tells whether the answer is a stream.
    model: null,
    stream: null,
    anthropic_version: VERSION,
  };
  const mended = (status: number, text: string) =>
    refusesBetas(status, text) ? requestOf(call, method, true) : undefined;
  return {
    path: `/model/${encodeURIComponent(physical_model)}/${method}`,
    headers: {},
    edits,
    authorize: (url, body) => signed(target.api_key, url, body),
    ...(isStrict || betasOf(call).length === 0 ? {} : { mended }),
  };
}

/**
 * Returns the headers of an AWS signature (version 4) if the key is a key pair. Otherwise the key
 * is an API key of Bedrock and is sent as a bearer token.
 */
async function signed(api_key: string, url: string, body: string): Promise<Record<string, string>> {
  const [access_key_id = '', secretAccessKey, ...token] = api_key.split(':');
  if (secretAccessKey === undefined) return { authorization: `Bearer ${api_key}` };
  const { headers } = await new AwsV4Signer({
    ...{ url, body, method: 'POST', service: 'bedrock', region: regionOf(url) },
    ...{
      accessKeyId: access_key_id,
      secretAccessKey,
      headers: { 'content-type': 'application/json' },
    },
    ...(token.length > 0 ? { sessionToken: token.join(':') } : {}),
  }).sign();
  // Weir's HTTP client adds these two headers itself.
  headers.delete('host');
  headers.delete('content-type');
  return Object.fromEntries(headers);
}

/**
 * Reads the region from a host such as `bedrock-runtime.eu-central-1.amazonaws.com`. If the host
 * names no region, returns the default region.
 */
function regionOf(url: string): string {
  return /\b([a-z]{2}(?:-[a-z]+)+-\d)\b/.exec(new URL(url).hostname)?.[1] ?? DEFAULT_REGION;
}
