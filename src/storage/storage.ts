/** Where results of generations are kept: the data folder, or an S3-compatible bucket (design 6). */
export interface Storage {
  /** Keeps bytes under a name; the same name again replaces them whole. */
  put(name: string, bytes: Uint8Array | Blob | ReadableStream, content_type: string): Promise<void>;
  /** undefined = there is no such file. */
  open(name: string): Promise<StoredFile | undefined>;
  delete(name: string): Promise<void>;
}

export interface StoredFile {
  /** The bytes, or from `start` up to before `end`. */
  stream(start?: number, end?: number): ReadableStream<Uint8Array>;
  readonly size_bytes: number;
  readonly content_type: string;
}

/** Names are paths of two parts that Weir makes: `<task>/<number>.<ending>`. */
const NAME = /^[A-Za-z0-9_-]{1,100}\/[0-9]{1,4}\.[a-z0-9]{1,8}$/;

/** True for a name that Weir makes; nothing else reaches a file system or a bucket. */
export function isStoredName(name: string): boolean {
  return NAME.test(name);
}

export function assertStoredName(name: string): void {
  if (!isStoredName(name)) throw new Error(`not a name of a stored file: ${name.slice(0, 200)}`);
}

/** Media types by the ending of a name: what a file is was decided when it was named. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  svg: 'image/svg+xml',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  glb: 'model/gltf-binary',
  obj: 'model/obj',
  stl: 'model/stl',
};

export function contentTypeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}
