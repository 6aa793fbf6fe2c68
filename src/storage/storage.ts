/**
 * Storage of results: the data folder, or an S3-compatible bucket. Every method throws if `name` is
 * not a name that Weir creates (see `isStoredName`).
 */
export interface FileStorage {
  /** Stores a file. If a file of the same name exists, it is replaced as a whole. */
  put(name: string, bytes: Uint8Array | Blob | ReadableStream, content_type: string): Promise<void>;
  /** Opens a file; undefined if the file does not exist. */
  open(name: string): Promise<StoredFile | undefined>;
  /** Deletes a file if the file exists. */
  delete(name: string): Promise<void>;
}

/** A file of the storage. */
export interface StoredFile {
  /** Returns the bytes from `start` (included) to `end` (excluded); by default all bytes. */
  stream(start?: number, end?: number): ReadableStream<Uint8Array>;
  readonly size_bytes: number;
  readonly content_type: string;
}

/** The names that Weir creates: `<task>/<number>.<ending>`. */
const NAME = /^[A-Za-z0-9_-]{1,100}\/[0-9]{1,4}\.[a-z0-9]{1,8}$/;

/** True for a name that Weir creates. No other name is used in a file system or a bucket. */
export function isStoredName(name: string): boolean {
  return NAME.test(name);
}

/** Throws if a name is not one that Weir creates. */
export function assertStoredName(name: string): void {
  if (!isStoredName(name)) throw new Error(`not a name of a stored file: ${name.slice(0, 200)}`);
}

/**
 * The media type of each ending of a file name. When a file is stored, its media type decides the
 * ending.
 */
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

/** Returns the media type of a stored file, by the ending of its name. */
export function contentTypeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}
