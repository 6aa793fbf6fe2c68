import { WeirError } from '../errors/weir-error.ts';

/** Bodies of inference calls; the vendor's own limit for messages (Anthropic docs: Errors, 413). */
export const MAX_INFERENCE_BODY_BYTES = 32 * 1024 * 1024;
export const MAX_MANAGEMENT_BODY_BYTES = 64 * 1024;
/** Deeper JSON is an attack, not a request. */
export const MAX_JSON_DEPTH = 128;

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface JsonBody {
  text: string;
  value: Record<string, unknown>;
}

/**
 * Reads a JSON object. Throws WeirError: `unsupported_media_type`, `payload_too_large`,
 * `invalid_json` (also for what is not UTF-8, too deep, or no object).
 */
export async function readJsonObject(request: Request, maxBytes: number): Promise<JsonBody> {
  const type = request.headers.get('content-type');
  if (!type || !/^application\/(json|[\w.+-]+\+json)\b/i.test(type)) {
    throw new WeirError('unsupported_media_type', 'The body must be JSON.', {
      param: 'Content-Type',
      hint: 'Send the header Content-Type: application/json.',
    });
  }
  const text = decode(await readBytes(request, maxBytes));
  checkDepth(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson('The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw notJson('The body must be a JSON object.');
  }
  return { text, value: value as Record<string, unknown> };
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const announced = request.headers.get('content-length');
  if (announced !== null) {
    if (Number(announced) > maxBytes) throw tooLarge(maxBytes);
    return request.bytes();
  }
  // A chunked body says its size by arriving: counted, so that it is never held whole beyond the limit.
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw notJson('The body is not valid UTF-8.');
  }
}

/** Counts brackets outside strings, before any parser recurses over them. */
function checkDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let position = 0; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    if (inString) {
      if (code === 92) position += 1;
      else if (code === 34) inString = false;
    } else if (code === 34) inString = true;
    else if (code === 91 || code === 123) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) throw notJson('The body is nested too deeply.');
    } else if (code === 93 || code === 125) depth -= 1;
  }
}

function notJson(message: string): WeirError {
  return new WeirError('invalid_json', message, { param: 'body' });
}

function tooLarge(maxBytes: number): WeirError {
  const megabytes = maxBytes / 1024 / 1024;
  const limit = megabytes >= 1 ? `${megabytes} MB` : `${maxBytes / 1024} kB`;
  return new WeirError('payload_too_large', `The body is larger than ${limit}.`, { param: 'body' });
}
