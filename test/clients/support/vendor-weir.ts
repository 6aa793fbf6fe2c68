/** A Weir for the packages of vendors in other languages: chat, embeddings and images. */
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';
import type { Command } from './compiled.ts';

const RUN_TIMEOUT_MS = 120_000;

/** One chat model for each form of upstream. */
const CHAT_MODELS = {
  'gpt-4o': { protocol: 'openai', path: '/openai/v1' },
  'gpt-4.1': { protocol: 'openai-responses', path: '/openai/v1' },
  'claude-haiku-4-5': { protocol: 'anthropic', path: '/anthropic' },
  'gemini-2.5-flash': { protocol: 'gemini', path: '/google/v1beta' },
} as const;
export const CHAT_MODEL_NAMES = Object.keys(CHAT_MODELS);
const DIRECT_MODELS = [...['text-embedding-3-small', 'tts-1', 'whisper-1']];
/**
 * Some calls break off on purpose. If a channel is skipped for that, the next one takes its place. The
 * first one answers all other calls, so that equal questions get equal answers.
 */
const CHANNELS = 3;

export interface VendorWeir {
  weir: RunningWeir;
  stop(): Promise<void>;
}

export async function startVendorWeir(env: Record<string, string> = {}): Promise<VendorWeir> {
  const simulator: RunningSimulator = await startSimulator();
  const channel = (id: string, protocol: string, path: string, model: string, priority = 0) => ({
    ...{ id, protocol, base_url: simulator.url + path, api_key: `sim-${id}` },
    ...{ priority, models: { [model]: model } },
  });
  const chat = Object.entries(CHAT_MODELS).flatMap(([model, { protocol, path }]) =>
    Array.from({ length: CHANNELS }, (_, at) =>
      channel(`${model.replaceAll('.', '-')}-${at}`, protocol, path, model, at),
    ),
  );
  const channels = [
    ...chat,
    ...DIRECT_MODELS.map((model) => channel(model, 'openai', '/openai/v1', model)),
    channel('images', 'openai-images', '/openai/v1', 'gpt-image-1'),
  ];
  const weir = await startWeir({
    ...{ shared_database: true, config: JSON.stringify({ channels }), env },
  });
  return {
    weir,
    stop: async () => {
      await weir.stop();
      await simulator.stop();
    },
  };
}

/** Runs a client with the address, a key and the model. Returns the JSON that it prints. */
export async function runClient(
  command: Command,
  stand: VendorWeir | undefined,
  model: string,
): Promise<unknown> {
  if (!stand) throw new Error('Weir does not run');
  const { base_url, api_key } = stand.weir;
  const child = Bun.spawn([...command, base_url, api_key, model], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: RUN_TIMEOUT_MS },
  });
  const [text, complaint, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(complaint.slice(-3_000));
  return JSON.parse(text.trim().split('\n').at(-1) ?? '');
}
