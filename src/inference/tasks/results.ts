import { isOwnChannel } from '../../config/own-key-rows.ts';
import { imageTypeOf } from '../../storage/image-type.ts';
import { type Mp4Measures, Mp4Reader } from '../../storage/mp4.ts';
import type { Produced, UpstreamOutput } from '../../upstreams/generation/contract.ts';
import { isOwnAddress } from '../../upstreams/generation/own-address.ts';
import type {
  FetchResult,
  ProducedOutput,
  ProducedRecord,
  ResultStorage,
  Route,
  TaskWork,
} from './deps.ts';
import type { StoredOutput } from './port.ts';

/**
 * File endings by media type. The name of a file consists of its task and its number. So a result
 * that is stored again replaces the earlier file.
 */
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
const DEFAULT_TYPES = {
  image: 'image/png',
  video: 'video/mp4',
  audio: 'audio/mpeg',
  model: 'model/gltf-binary',
} as const;
/**
 * Bytes that arrive inside an answer exist nowhere else. So a failed `put` is retried before the
 * effect fails.
 */
const MAX_PUT_ATTEMPTS = 5;
const PUT_RETRY_MS = 200;

/**
 * Returns the record of what the upstream made. Bytes are stored first. The record leaves out an
 * output without content.
 */
export async function recordOf(
  storage: ResultStorage,
  task_id: string,
  produced: Produced,
): Promise<ProducedRecord> {
  const outputs: ProducedOutput[] = [];
  for (const { base64, ...output } of produced.outputs.filter(isUsable)) {
    const recorded: ProducedOutput =
      base64 === undefined
        ? output
        : { ...output, ...(await storeBase64(storage, task_id, outputs.length, output, base64)) };
    outputs.push(recorded);
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
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  // Some providers name no type, or always the same one.
  const content_type = contentTypeFor(output.kind, imageTypeOf(bytes), output.content_type);
  const file = fileNameOf(task_id, index, content_type);
  for (let attempts = 1; ; attempts += 1) {
    try {
      await storage.put(file, bytes, content_type);
      return { file, content_type };
    } catch (error) {
      if (attempts >= MAX_PUT_ATTEMPTS) throw error;
      await Bun.sleep(PUT_RETRY_MS * attempts);
    }
  }
}

/**
 * Fetches the outputs that are not in the storage yet, and returns all outputs. Throws if an output
 * cannot be fetched.
 */
export async function collectOutputs(
  parts: { storage: ResultStorage; fetchResult: FetchResult; signal: AbortSignal },
  work: TaskWork,
  record: ProducedRecord,
  route: Route | undefined,
): Promise<StoredOutput[]> {
  const outputs: StoredOutput[] = [];
  for (const [index, output] of record.outputs.entries()) {
    const stored =
      output.file === undefined && output.url !== undefined
        ? await storeFromUrl(parts, work, index, output, output.url, route)
        : storedFileOf(output);
    outputs.push({ ...publicPart(work.id, index, output), ...stored });
  }
  return outputs;
}

function storedFileOf({ file, content_type }: ProducedOutput): {
  file?: string;
  content_type?: string;
} {
  if (file === undefined) return {};
  return { file, ...(content_type === undefined ? {} : { content_type }) };
}

async function storeFromUrl(
  { storage, fetchResult, signal }: Parameters<typeof collectOutputs>[0],
  { id: task_id, channel_id }: TaskWork,
  index: number,
  output: ProducedOutput,
  url: string,
  route: Route | undefined,
): Promise<Pick<StoredOutput, 'file' | 'content_type' | 'measured'>> {
  const headers = output.needs_key && route ? keyHeaders(route, url) : {};
  const is_own = isOwnChannel(channel_id);
  const fetched = await fetchResult(url, { headers, signal, is_own });
  const { head, stream } = await withHead(fetched.stream);
  const types = [imageTypeOf(head), fetched.content_type, output.content_type];
  const content_type = contentTypeFor(output.kind, ...types);
  const file = fileNameOf(task_id, index, content_type);
  if (output.kind !== 'video') {
    await storage.put(file, stream, content_type);
    return { file, content_type };
  }
  const reader = new Mp4Reader();
  await storage.put(file, readBy(reader, stream), content_type);
  const measured: Mp4Measures | undefined = reader.measures;
  return { file, content_type, ...(measured === undefined ? {} : { measured }) };
}

/**
 * Returns the headers with the account's key for the download of a result. They are empty if the URL
 * is on a foreign host, which must not get the key.
 */
function keyHeaders({ protocol, target }: Route, url: string): Record<string, string> {
  if (!isOwnAddress(target.base_url, url)) return {};
  return protocol.downloadHeaders?.(target) ?? {};
}

/** Returns the first piece of a stream, and a stream with the same bytes. */
async function withHead(
  source: ReadableStream<Uint8Array>,
): Promise<{ head: Uint8Array; stream: ReadableStream<Uint8Array> }> {
  const reader = source.getReader();
  const first = await reader.read();
  const head = first.value ?? new Uint8Array();
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      if (first.value) controller.enqueue(first.value);
      if (first.done) controller.close();
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { head, stream };
}

/** Returns the same stream. Each piece of it is also read by the reader. */
function readBy(reader: Mp4Reader, stream: ReadableStream): ReadableStream {
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        reader.push(piece);
        controller.enqueue(piece);
      },
    }),
  );
}

/** Returns the fields that a client may see: no address and no id of the upstream (P5). */
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

/**
 * Returns the first media type in `candidates` that fits the kind of output. If none fits, returns
 * the default of the kind.
 */
function contentTypeFor(
  kind: UpstreamOutput['kind'],
  ...candidates: (string | undefined)[]
): string {
  if (kind === 'text') return 'text/plain';
  const types = candidates.map((type) => type?.split(';')[0]?.trim().toLowerCase() ?? '');
  return types.find((type) => type in EXTENSIONS && type.startsWith(kind)) ?? DEFAULT_TYPES[kind];
}

function fileNameOf(task_id: string, index: number, content_type: string): string {
  return `${task_id}/${index + 1}.${EXTENSIONS[content_type] ?? 'bin'}`;
}
