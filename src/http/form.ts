import { WeirError } from '../errors/weir-error.ts';
import { type BodyLimits, readBodyBytes } from './body-bytes.ts';

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
 * Reads a multipart form within limits of size and time. Throws like `readBodyBytes`. Throws
 * WeirError `invalid_request` if the body is not a form.
 */
export async function readForm(request: Request, limits: BodyLimits): Promise<Form> {
  const bytes = await readBodyBytes(request, limits);
  const type = request.headers.get('content-type') ?? '';
  try {
    const response = new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: { 'content-type': type },
    });
    return (await response.formData()) as unknown as Form;
  } catch {
    throw new WeirError('invalid_request', 'The body is not a valid form.', { param: 'body' });
  }
}
