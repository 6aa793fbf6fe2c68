/**
 * Tests every protocol of generations over HTTP against its provider in the simulator. The tests
 * cover success, refusals in the provider's own words, and failures.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { GenerationInput } from '../../../src/catalogue/inputs.ts';
import type { ChannelProtocol, GenerationProtocolName } from '../../../src/protocols/names.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../../../src/upstreams/contract.ts';
import {
  type Failed,
  type GenerationCall,
  type GenerationProtocol,
  LostSubmissionError,
  type Produced,
  type Progress,
} from '../../../src/upstreams/generation/contract.ts';
import { progressIn } from '../../../src/upstreams/generation/exchange.ts';
import { GENERATION_PROTOCOLS } from '../../../src/upstreams/generation/protocols.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

const image = (prompt: string): GenerationInput => ({
  scene: 'image',
  prompt,
  n: 1,
  response_format: 'url',
  aspect_ratio: '1:1',
});
const sized = (prompt: string): GenerationInput => ({
  scene: 'image',
  prompt,
  n: 1,
  response_format: 'url',
  size: '1024x1024',
});
const video = (prompt: string): GenerationInput => ({
  scene: 'video',
  operation: 'text-to-video',
  prompt,
  duration: 5,
  aspect_ratio: '16:9',
});
const music = (prompt: string): GenerationInput => ({ scene: 'music', action: 'MUSIC', prompt });

interface Provider {
  readonly name: GenerationProtocolName;
  readonly path: string;
  readonly model: string;
  readonly input: (prompt: string) => GenerationInput;
  /** True if the answer to the submission is the result. */
  readonly inline?: boolean;
}

const PROVIDERS: readonly Provider[] = [
  { name: 'openai-images', path: '/openai/v1', model: 'gpt-image-1', input: sized, inline: true },
  { name: 'azure-images', path: '/azure', model: 'gpt-image-1', input: sized, inline: true },
  { name: 'gemini', path: '/google/v1beta', model: 'gemini-pro-image', input: image, inline: true },
  { name: 'veo', path: '/google/v1beta', model: 'veo-3.1', input: video },
  { name: 'xai', path: '/xai/v1', model: 'grok-imagine-video', input: video },
  { name: 'xai', path: '/xai/v1', model: 'grok-imagine-image', input: image, inline: true },
  { name: 'stability', path: '/stability', model: 'sd3.5-large', input: image, inline: true },
  { name: 'ideogram', path: '/ideogram', model: 'ideogram-v3', input: image, inline: true },
  { name: 'bfl', path: '/bfl/v1', model: 'flux-pro-1.1', input: image },
  { name: 'kling', path: '/kling', model: 'kling-v3', input: video },
  { name: 'runway', path: '/runway', model: 'gen4.5', input: video },
  { name: 'ark', path: '/ark/api/v3', model: 'seedance-2-0', input: video },
  { name: 'midjourney', path: '/midjourney/mj', model: 'MID_JOURNEY', input: image },
  { name: 'suno', path: '/suno', model: 'chirp-v5', input: music },
  { name: 'fal', path: '/fal', model: 'fal-ai/veo3.1', input: video },
  { name: 'fal', path: '/fal', model: 'fal-ai/flux-2-pro', input: image },
  { name: 'replicate', path: '/replicate/v1', model: 'owner/video-model', input: video },
];
const named = PROVIDERS.map((each): [string, Provider] => [`${each.name} ${each.model}`, each]);
const byJob = named.filter(([, { inline }]) => !inline);

let accounts = 0;

function callOf(provider: Provider, prompt: string, api_key?: string): GenerationCall {
  accounts += 1;
  const key = api_key ?? `sim-${provider.name}-${accounts}`;
  return {
    target: {
      channel_id: 'channel',
      protocol: provider.name as ChannelProtocol,
      base_url: simulator.url + provider.path,
      api_key: key,
      timeout_ms: 5_000,
    },
    physical_model: provider.model,
    public_model: 'public-model',
    input: provider.input(prompt),
    idempotency_key: crypto.randomUUID(),
    signal: new AbortController().signal,
  };
}

const protocolOf = ({ name }: Provider): GenerationProtocol => GENERATION_PROTOCOLS[name];

/** Submits a job and polls it until it has ended. */
async function run(provider: Provider, prompt: string): Promise<Produced | Failed | Progress> {
  const protocol = protocolOf(provider);
  const call = callOf(provider, prompt);
  const submitted = await protocol.submit(call);
  if (submitted.type !== 'accepted') return submitted;
  for (;;) {
    const progress = await protocol.poll?.(call, submitted.job);
    if (progress?.type !== 'running') return progress as Progress;
    await Bun.sleep(30);
  }
}

/** The providers that document the progress of a job. */
const WITH_PROGRESS = ['bfl', 'midjourney', 'runway', 'suno', 'xai'];

describe('the progress of a running job', () => {
  test.concurrent.each(byJob)('of %s', async (_, provider) => {
    const protocol = protocolOf(provider);
    const call = callOf(provider, 'A lighthouse [[sim task_ms=900]]');
    const submitted = await protocol.submit(call);
    if (submitted.type !== 'accepted') throw new Error(JSON.stringify(submitted));
    const reported: number[] = [];
    for (;;) {
      const progress = await protocol.poll?.(call, submitted.job);
      if (progress?.type !== 'running') break;
      if (progress.progress !== undefined) reported.push(progress.progress);
      await Bun.sleep(30);
    }
    if (!WITH_PROGRESS.includes(provider.name)) {
      expect(reported).toEqual([]);
      return;
    }
    expect(reported.every((each) => Number.isInteger(each) && each >= 0 && each <= 100)).toBe(true);
    expect(reported).toEqual(reported.toSorted((one, other) => one - other));
    // If a part of 1 were read as percent, or the other way round, all values would be 0, 1 or 100.
    expect(reported.some((each) => each > 1 && each < 100)).toBe(true);
  });
});

describe('progressIn', () => {
  test.each([
    ['45%', 100, 45],
    ['0%', 100, 0],
    ['99.9 %', 1, 99],
    [0.29, 1, 29],
    [1, 1, 100],
    [46, 100, 46],
    ['46', 100, 46],
    [120, 100, 100],
    [-3, 100, 0],
  ])('%p of %p', (value, whole, progress) => {
    expect(progressIn(value, whole)).toEqual({ progress });
  });

  test('is empty for a value that is no number', () => {
    for (const value of [undefined, null, '', 'soon', '%', Number.NaN, {}, [], true]) {
      expect(progressIn(value)).toEqual({});
    }
  });
});

const SHORT = '[[sim task_ms=150]]';
const errorOf = async (work: Promise<unknown>) => work.then(() => undefined).catch((e) => e);

describe.each(named)('%s', (_, provider) => {
  test('makes the requested result, as a URL or as bytes', async () => {
    const produced = await run(provider, `A lighthouse ${SHORT}`);
    if (produced.type !== 'produced') throw new Error(JSON.stringify(produced));
    expect(produced.outputs.length).toBeGreaterThan(0);
    for (const { url, base64, needs_key } of produced.outputs) {
      if (base64) {
        expect(Buffer.from(base64, 'base64').subarray(1, 4).toString()).toBe('PNG');
        continue;
      }
      const headers = needs_key
        ? { 'x-goog-api-key': `sim-${provider.name}-${accounts}` }
        : undefined;
      const file = await fetch(url ?? '', headers ? { headers } : {});
      expect(file.status).toBe(200);
      expect((await file.bytes()).length).toBeGreaterThan(50);
    }
  });

  test.each(['moderation', 'upstream'] as const)(
    'fails for %s with a message that names no provider',
    async (fail) => {
      const asked = errorOrResult(run(provider, `A [[sim task_ms=150 fail=${fail}]]`));
      const said = await asked;
      if (said instanceof Error) {
        // An inline provider may have made a result before its server error.
        expect(
          [LostSubmissionError, RetryableUpstreamError].some((kind) => said instanceof kind),
        ).toBe(true);
        expect(fail).toBe('upstream');
        return;
      }
      expect(said).toMatchObject({ type: 'failed', reason: fail });
      expect((said as Failed).public_message).not.toMatch(/sim|kling|flux|bfl|gemini|veo|runway/i);
    },
  );

  test('distinguishes a refused prompt from a refused submission', async () => {
    const said = await errorOrResult(run(provider, `A [[sim fail=moderation at=submit]]`));
    expect(said).toMatchObject({ type: 'failed', reason: 'moderation' });
  });

  test('names the client’s input as the fault', async () => {
    const said = await errorOrResult(run(provider, `A [[sim status=400]]`));
    if (said instanceof Error) expect(said).toBeInstanceOf(TerminalUpstreamError);
    else expect(said).toMatchObject({ type: 'failed', reason: 'input' });
  });

  test('is retryable if throttled, or if the account has no money or a wrong key', async () => {
    const throttled = await errorOf(run(provider, 'A [[sim status=429 retry_after=7]]'));
    expect(throttled).toBeInstanceOf(RetryableUpstreamError);
    expect(throttled.failure).toBe('throttle');
    const poor = await errorOf(run(provider, 'A [[sim status=429 quota=1]]'));
    expect(poor).toBeInstanceOf(RetryableUpstreamError);
    const wrong = callOf(provider, 'A lighthouse', 'no-key-of-theirs');
    const keyless = await errorOf(protocolOf(provider).submit(wrong));
    expect(keyless).toBeInstanceOf(RetryableUpstreamError);
    expect(keyless.failure).toBe('auth');
  });

  test.each(['lose=1', 'malformed=1', 'status=500', 'status=502'])(
    'P10: reports a lost submission after [[sim %s]]',
    async (directive) => {
      const error = await errorOf(run(provider, `A [[sim ${directive}]]`));
      expect(error).toBeInstanceOf(LostSubmissionError);
    },
  );

  test('is retryable if the connection was refused, because nothing was sent', async () => {
    const call = callOf(provider, 'A lighthouse');
    const target = { ...call.target, base_url: 'http://127.0.0.1:1' };
    const error = await errorOf(protocolOf(provider).submit({ ...call, target }));
    expect(error).toBeInstanceOf(RetryableUpstreamError);
    expect(error.failure).toBe('connection');
  });

  test('stops if its caller cancels or its time limit has passed', async () => {
    const abort = new AbortController();
    const call = { ...callOf(provider, 'A [[sim latency_ms=5000]]'), signal: abort.signal };
    const asked = errorOf(protocolOf(provider).submit(call));
    abort.abort(new Error('the caller left'));
    expect((await asked).message).toBe('the caller left');
    const late = callOf(provider, 'A [[sim latency_ms=5000]]');
    const target = { ...late.target, timeout_ms: 60 };
    expect(await errorOf(protocolOf(provider).submit({ ...late, target }))).toBeInstanceOf(
      LostSubmissionError,
    );
  });
});

describe.each(byJob)('a job of %s', (_, provider) => {
  test('P10: is unknown after [[sim unknown=1]]', async () => {
    const said = await run(provider, 'A [[sim task_ms=150 unknown=1]]');
    // Veo reports no status for an operation that is not done.
    if (provider.name !== 'veo') expect(said.type).toBe('unknown');
  });

  test('is missing after [[sim gone=1]]', async () => {
    expect((await run(provider, 'A [[sim task_ms=150 gone=1]]')).type).toBe('missing');
  });

  test('fails if it completes without a result', async () => {
    const said = await run(provider, 'A [[sim task_ms=150 no_url=1]]');
    expect(said).toMatchObject({ type: 'failed' });
  });

  test('can be polled again after a failed poll', async () => {
    const call = callOf(provider, 'A [[sim task_ms=1 poll_status=503 poll_times=1]]');
    const protocol = protocolOf(provider);
    const submitted = await protocol.submit(call);
    if (submitted.type !== 'accepted' || !protocol.poll) throw new Error('not accepted');
    expect(await errorOf(protocol.poll(call, submitted.job))).toBeInstanceOf(
      RetryableUpstreamError,
    );
    await Bun.sleep(20);
    expect((await protocol.poll(call, submitted.job)).type).toBe('produced');
  });

  test('of another account is not found', async () => {
    const protocol = protocolOf(provider);
    const call = callOf(provider, 'A lighthouse');
    const submitted = await protocol.submit(call);
    if (submitted.type !== 'accepted') throw new Error('not accepted');
    const stranger = callOf(provider, 'A lighthouse');
    expect((await protocol.poll?.(stranger, submitted.job))?.type).toBe('missing');
  });

  test('P10: is found by its key, if the provider supports that', async () => {
    const protocol = protocolOf(provider);
    if (!protocol.find) return;
    const call = callOf(provider, `A lighthouse [[sim task_ms=100 lose=1]]`);
    expect(await protocol.find(call)).toBeUndefined();
    expect(await errorOf(protocol.submit(call))).toBeInstanceOf(LostSubmissionError);
    const job = await protocol.find(call);
    if (!job) throw new Error('not found');
    await Bun.sleep(150);
    expect((await protocol.poll?.(call, job))?.type).toBe('produced');
  });
});

function errorOrResult<T>(work: Promise<T>): Promise<T | Error> {
  return work.catch((error: Error) => error);
}
