import { isObject } from '../../json/object.ts';

/**
 * Returns the answer `text` with its vectors in the format `wanted`, the client's
 * `encoding_format`. For `base64`, a vector is little-endian float32 in Base64; otherwise it is a
 * list of numbers. `data` is the parsed member `data` of the answer.
 */
export function inEncodingFormat(text: string, data: readonly unknown[], wanted: unknown): string {
  const isBase64 = wanted === 'base64';
  const isRight = data.every(
    (item) => isObject(item) && (typeof item['embedding'] === 'string') === isBase64,
  );
  if (isRight) return text;
  const answer = JSON.parse(text) as { data: { embedding: number[] | string }[] };
  for (const item of answer.data) {
    item.embedding = isBase64 ? toBase64(item.embedding) : fromBase64(item.embedding);
  }
  return JSON.stringify(answer);
}

/** Returns a vector as little-endian float32 in Base64. A text is returned unchanged. */
export function toBase64(vector: number[] | string): string {
  if (typeof vector === 'string') return vector;
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString('base64');
}

function fromBase64(vector: number[] | string): number[] {
  if (typeof vector !== 'string') return vector;
  const bytes = Buffer.from(vector, 'base64');
  return Array.from({ length: bytes.length >> 2 }, (_, at) => bytes.readFloatLE(at * 4));
}
