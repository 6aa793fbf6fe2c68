import type { Produced, UpstreamOutput } from '../../upstreams/generation/contract.ts';
import type {
  FetchOutput,
  ProducedOutput,
  ProducedRecord,
  ResultStorage,
  Route,
  TaskWork,
} from './deps.ts';
import type { StoredOutput } from './port.ts';

/** Files of a task are named by their number, so storing one again replaces it by the same. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/svg+xml': 'svg',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'model/gltf-binary': 'glb',
  'model/obj': 'obj',
  'model/stl': 'stl',
};
const USUAL_TYPES = {
  image: 'image/png',
  video: 'video/mp4',
  audio: 'audio/mpeg',
  model: 'model/gltf-binary',
} as const;
/** Storing is tried again at once where it fails: these bytes exist nowhere else. */
const MAX_PUTS = 5;
const PUT_AGAIN_MS = 200;

/**
 * What a record keeps of what the upstream made: bytes go to the storage first, an output without
 * anything to it is left out.
 */
export async function recordOf(
  storage: ResultStorage,
  task_id: string,
  produced: Produced,
): Promise<ProducedRecord> {
  const outputs: ProducedOutput[] = [];
  for (const { base64, ...output } of produced.outputs.filter(isUsable)) {
    const kept: ProducedOutput =
      base64 === undefined
        ? output
        : { ...output, ...(await storeBase64(storage, task_id, outputs.length, output, base64)) };
    outputs.push(kept);
  }
  return { outputs, usage: produced.usage };
}

function isUsable({ kind, url, base64, text }: UpstreamOutput): boolean {
  return kind === 'text' ? text !== undefined : url !== undefined || base64 !== undefined;
}

async function storeBase64(
  storage: ResultStorage,
  task_id: string,
  index: number,
  output: Omit<UpstreamOutput, 'base64'>,
  base64: string,
): Promise<{ file: string; content_type: string }> {
  const content_type = typeOf(output.kind, output.content_type);
  const file = nameOf(task_id, index, content_type);
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  for (let times = 1; ; times += 1) {
    try {
      await storage.put(file, bytes, content_type);
      return { file, content_type };
    } catch (error) {
      if (times >= MAX_PUTS) throw error;
      await Bun.sleep(PUT_AGAIN_MS * times);
    }
  }
}

/** Fetches what is not in the storage yet. Throws if one of them cannot be had. */
export async function collectOutputs(
  parts: { storage: ResultStorage; fetchOutput: FetchOutput; signal: AbortSignal },
  work: TaskWork,
  record: ProducedRecord,
  route: Route | undefined,
): Promise<StoredOutput[]> {
  const outputs: StoredOutput[] = [];
  for (const [index, output] of record.outputs.entries()) {
    const stored =
      output.file === undefined && output.url !== undefined
        ? await fetchOne(parts, work.id, index, output, output.url, route)
        : fileOf(output);
    outputs.push({ ...publicPart(work.id, index, output), ...stored });
  }
  return outputs;
}

function fileOf({ file, content_type }: ProducedOutput): { file?: string; content_type?: string } {
  if (file === undefined) return {};
  return { file, ...(content_type === undefined ? {} : { content_type }) };
}

async function fetchOne(
  { storage, fetchOutput, signal }: Parameters<typeof collectOutputs>[0],
  task_id: string,
  index: number,
  output: ProducedOutput,
  url: string,
  route: Route | undefined,
): Promise<{ file: string; content_type: string }> {
  const headers = output.needs_key ? (route?.protocol.downloadHeaders?.(route.target) ?? {}) : {};
  const { stream, content_type: said } = await fetchOutput(url, { headers, signal });
  const content_type = typeOf(output.kind, said, output.content_type);
  const file = nameOf(task_id, index, content_type);
  await storage.put(file, stream, content_type);
  return { file, content_type };
}

/** Only what a client may know: no address and no name of the upstream's (P5). */
function publicPart(task_id: string, index: number, output: ProducedOutput): StoredOutput {
  const { kind, text, revised_prompt, title, duration, width, height, continuation_id } = output;
  return {
    kind,
    ...(text === undefined ? {} : { text }),
    ...(revised_prompt === undefined ? {} : { revised_prompt }),
    ...(title === undefined ? {} : { title }),
    ...(duration === undefined ? {} : { duration }),
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(continuation_id === undefined ? {} : { clip_id: `${task_id}-${index + 1}` }),
  };
}

/** The first media type that fits the kind, else the kind's usual one. */
function typeOf(kind: UpstreamOutput['kind'], ...said: (string | undefined)[]): string {
  if (kind === 'text') return 'text/plain';
  const types = said.map((each) => each?.split(';')[0]?.trim().toLowerCase() ?? '');
  return types.find((type) => type in EXTENSIONS && type.startsWith(kind)) ?? USUAL_TYPES[kind];
}

function nameOf(task_id: string, index: number, content_type: string): string {
  return `${task_id}/${index + 1}.${EXTENSIONS[content_type] ?? 'bin'}`;
}
