import { S3Client } from 'bun';
import { assertStoredName, contentTypeOf, type FileStorage, type StoredFile } from './storage.ts';

/** Options of an S3-compatible bucket (AWS, R2, MinIO …). */
export interface BucketOptions {
  readonly bucket: string;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly access_key_id: string;
  readonly secret_access_key: string;
  /**
   * Time limit for opening or deleting a file; default 30 s. It does not apply to `put`, whose
   * caller limits the time.
   */
  readonly timeout_ms?: number;
}

/** Bytes of one part of an upload. An upload keeps only one part in memory. */
const PART_BYTES = 8 * 1024 * 1024;
const RETRIES = 3;
const TIMEOUT_MS = 30_000;

/** Files in a bucket. Uses Bun's S3 client. A file becomes visible when its upload is complete. */
export class BucketStorage implements FileStorage {
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
    if (!(await this.withTimeout(file.exists()))) return undefined;
    const { size } = await this.withTimeout(file.stat());
    return {
      stream: (start = 0, end = size) => file.slice(start, end).stream(),
      size_bytes: size,
      content_type: contentTypeOf(name),
    };
  }

  async delete(name: string): Promise<void> {
    assertStoredName(name);
    await this.withTimeout(this.client.delete(name));
  }

  /**
   * Waits for `answer`, but rejects after the time limit. The S3 client has no limit of its own.
   */
  private withTimeout<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => timeout.reject(new Error(`the bucket did not answer within ${this.timeout_ms} ms`)),
      this.timeout_ms,
    );
    return Promise.race([answer, timeout.promise]).finally(() => clearTimeout(timer));
  }
}
