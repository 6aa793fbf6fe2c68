import { WeirError } from '../../errors/weir-error.ts';
import { checkSignedPath } from '../../storage/signed-path.ts';
import type { FileStorage, StoredFile } from '../../storage/storage.ts';
import type { Handler } from '../endpoint.ts';
import { notOffered } from '../not-offered.ts';

export interface FileRouteDeps {
  /** undefined if this installation stores no files. */
  files?: {
    readonly storage: FileStorage;
    readonly secret: Uint8Array;
    readonly now: () => number;
  };
}

const MS_PER_S = 1_000;

/**
 * Returns a stored result by its signed URL: `GET /v1/files/{name}?expires=…&signature=…`. No key
 * is needed: the URL itself is the permission, until `expires`. Media players jump to other
 * positions, so a request may ask for one byte range (RFC 9110, 14).
 */
export function getFile({ files }: FileRouteDeps): Handler {
  return async ({ request }) => {
    const url = new URL(request.url);
    // Clients of vendors request files that they uploaded, without a signature.
    const isSigned = url.searchParams.has('expires') || url.searchParams.has('signature');
    if (!isSigned) throw notOffered(request) ?? notFound();
    if (!files) throw notFound();
    const signed = checkSignedPath(files.secret, url, files.now() / MS_PER_S);
    if (signed === 'wrong') throw notFound();
    if (signed === 'expired') {
      throw new WeirError('access_denied', 'The URL has expired.', {
        hint: 'Poll the task again: its record has a new URL.',
      });
    }
    const file = await files.storage.open(signed.name);
    if (!file) throw notFound();
    return fileResponse(file, request.headers.get('range'));
  };
}

function fileResponse(file: StoredFile, range: string | null): Response {
  const { size_bytes, content_type } = file;
  const headers: Record<string, string> = {
    'content-type': content_type,
    'accept-ranges': 'bytes',
    'content-disposition': 'inline',
    'cache-control': 'private, max-age=3600',
    // A browser must not treat the file as another type, or run scripts in it.
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  };
  const part = range === null ? undefined : readRange(range, size_bytes);
  if (part === 'unsatisfiable') {
    headers['content-range'] = `bytes */${size_bytes}`;
    return new Response(null, { status: 416, headers });
  }
  if (!part) {
    headers['content-length'] = String(size_bytes);
    return new Response(file.stream(), { headers });
  }
  headers['content-range'] = `bytes ${part.start}-${part.end - 1}/${size_bytes}`;
  headers['content-length'] = String(part.end - part.start);
  return new Response(file.stream(part.start, part.end), { status: 206, headers });
}

/**
 * Returns the requested byte range, or `unsatisfiable` if the file has no byte in that range.
 * Returns undefined for several ranges or a malformed header: then the whole file is sent (RFC
 * 9110, 14.2).
 */
function readRange(
  range: string,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(range.trim());
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const [, from = '', to = ''] = match;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1);
  return start < end ? { start, end } : 'unsatisfiable';
}

function notFound(): WeirError {
  return new WeirError('not_found', 'There is no such file.', {
    hint: 'Use the URL exactly as the task record shows it, or poll the task again.',
  });
}
