import type { EncodedBody } from './http.ts';

/** Returns a body of JSON text. */
export function jsonBody(content: string): EncodedBody {
  return { content, content_type: 'application/json' };
}

/** Returns a body with the fields of a form without files. */
export function fieldsBody(fields: URLSearchParams): EncodedBody {
  return { content: fields.toString(), content_type: 'application/x-www-form-urlencoded' };
}

/**
 * Returns a form with files as one body. This is possible because the files are already in memory
 * and have at most a few tens of megabytes. The body has a known length, so it is sent without
 * chunks.
 */
export async function encodeForm(form: FormData): Promise<EncodedBody> {
  // The platform writes the parts and chooses the boundary between them.
  const encoded = new Response(form);
  const content_type = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { content: new Uint8Array(await encoded.arrayBuffer()), content_type };
}
