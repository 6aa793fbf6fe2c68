import { WeirError } from '../errors/weir-error.ts';

const FORM_TIMEOUT_MS = 120_000;

/** What is used of a form; two sets of types disagree about the rest. */
export interface Form {
  get(name: string): string | Blob | null;
  getAll(name: string): (string | Blob)[];
  keys(): Iterable<string>;
}

export function isForm(request: Request): boolean {
  const type = request.headers.get('content-type') ?? '';
  return type.toLowerCase().startsWith('multipart/form-data');
}

/**
 * Reads a multipart form, bounded in size and time. Throws WeirError: `tooLarge()` beyond the size,
 * 400 for what is no form.
 */
export async function readForm(
  request: Request,
  max_bytes: number,
  tooLarge: () => WeirError,
): Promise<Form> {
  if (Number(request.headers.get('content-length')) > max_bytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const late = setTimeout(() => request.body?.cancel().catch(() => undefined), FORM_TIMEOUT_MS);
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > max_bytes) throw tooLarge();
      chunks.push(chunk);
    }
    const type = request.headers.get('content-type') ?? '';
    const whole = new Response(Buffer.concat(chunks), { headers: { 'content-type': type } });
    return (await whole.formData()) as unknown as Form;
  } catch (error) {
    if (error instanceof WeirError) throw error;
    throw new WeirError('invalid_request', 'The body is no valid form.', { param: 'body' });
  } finally {
    clearTimeout(late);
  }
}
