import { S3Client } from 'bun';
import { assertStoredName, contentTypeOf, type Storage, type StoredFile } from './storage.ts';

/** An S3-compatible bucket (AWS, R2, MinIO …). */
export interface BucketOptions {
  readonly bucket: string;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly access_key_id: string;
  readonly secret_access_key: string;
  /** For an answer about a file; storing one is bounded by whoever stores. */
  readonly timeout_ms?: number;
}

/** Bytes of one part of an upload; a result is held in memory no further than this. */
const PART_BYTES = 8 * 1024 * 1024;
const RETRIES = 3;
const TIMEOUT_MS = 30_000;

/** Files in a bucket, through Bun's own client. A file appears when its upload is complete. */
export class BucketStorage implements Storage {
  private readonly client: S3Client;
  private readonly timeout_ms: number;

  constructor(options: BucketOptions) {
    const { bucket, endpoint, region, access_key_id, secret_access_key } = options;
    this.timeout_ms = options.timeout_ms ?? TIMEOUT_MS;
    this.client = new S3Client({
      bucket,
      accessKeyId: access_key_id,
      secretAccessKey: secret_access_key,
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(region === undefined ? {} : { region }),
    });
  }

  async put(
    name: string,
    bytes: Uint8Array | Blob | ReadableStream,
    content_type: string,
  ): Promise<void> {
    assertStoredName(name);
    const options = { type: content_type, partSize: PART_BYTES, retry: RETRIES };
    const body = bytes instanceof ReadableStream ? new Response(bytes) : bytes;
    await this.client.write(name, body, options);
  }

  async open(name: string): Promise<StoredFile | undefined> {
    assertStoredName(name);
    const file = this.client.file(name);
    if (!(await this.answered(file.exists()))) return undefined;
    const { size } = await this.answered(file.stat());
    return {
      stream: (start = 0, end = size) => file.slice(start, end).stream(),
      size_bytes: size,
      content_type: contentTypeOf(name),
    };
  }

  async delete(name: string): Promise<void> {
    assertStoredName(name);
    await this.answered(this.client.delete(name));
  }

  /** The client itself waits for ever. */
  private answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`the bucket did not answer in ${this.timeout_ms} ms`)),
      this.timeout_ms,
    );
    return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
  }
}
