import { WeirError } from '../errors/weir-error.ts';
import type { CallSignal } from '../upstreams/contract.ts';
import { untilAborted } from '../upstreams/transport/deadlines.ts';

const FORM_TIMEOUT_MS = 120_000;

/**
 * The methods of FormData that Weir uses. The types of Bun and the DOM differ in the other methods.
 */
export interface Form {
  get(name: string): string | Blob | null;
  getAll(name: string): (string | Blob)[];
  keys(): Iterable<string>;
}

/** True if the content type is `multipart/form-data`. */
export function isForm(request: Request): boolean {
  const type = request.headers.get('content-type') ?? '';
  return type.toLowerCase().startsWith('multipart/form-data');
}

/**
 * Reads a multipart form within limits of size and time. Throws `tooLarge()` if the form is larger
 * than `max_bytes`. Throws WeirError `invalid_request` if the body is not a form. Throws the
 * signal's reason if the signal is aborted before the form is complete.
 */
export function readForm(
  request: Request,
  max_bytes: number,
  tooLarge: () => WeirError,
  signal: CallSignal,
): Promise<Form> {
  return untilAborted(readWhole(request, max_bytes, tooLarge), signal);
}

async function readWhole(
  request: Request,
  max_bytes: number,
  tooLarge: () => WeirError,
): Promise<Form> {
  if (Number(request.headers.get('content-length')) > max_bytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const timer = setTimeout(() => request.body?.cancel().catch(() => undefined), FORM_TIMEOUT_MS);
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > max_bytes) throw tooLarge();
      chunks.push(chunk);
    }
    const type = request.headers.get('content-type') ?? '';
    const response = new Response(Buffer.concat(chunks), { headers: { 'content-type': type } });
    return (await response.formData()) as unknown as Form;
  } catch (error) {
    if (error instanceof WeirError) throw error;
    throw new WeirError('invalid_request', 'The body is not a valid form.', { param: 'body' });
  } finally {
    clearTimeout(timer);
  }
}
