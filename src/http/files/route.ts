import { WeirError } from '../../errors/weir-error.ts';
import { readSignedPath } from '../../storage/signed-path.ts';
import type { Storage, StoredFile } from '../../storage/storage.ts';
import type { Handler } from '../endpoint.ts';

export interface FileRouteDeps {
  /** undefined = this installation keeps no files. */
  files?: { readonly storage: Storage; readonly secret: Uint8Array; readonly now: () => number };
}

const MS = 1_000;

/**
 * A stored result by its signed address: `GET /v1/files/{name}?expires=…&signature=…`. No key is
 * asked for: the address is the permission, and ends with `expires`. Players seek, so one byte range
 * is answered (RFC 9110, 14).
 */
export function getFile({ files }: FileRouteDeps): Handler {
  return async ({ request }) => {
    if (!files) throw notFound();
    const read = readSignedPath(files.secret, new URL(request.url), files.now() / MS);
    if (read === 'wrong') throw notFound();
    if (read === 'expired') {
      throw new WeirError('access_denied', 'This address has expired.', {
        hint: 'Poll the task again: its answer carries a fresh address.',
      });
    }
    const file = await files.storage.open(read.name);
    if (!file) throw notFound();
    return answer(file, request.headers.get('range'));
  };
}

function answer(file: StoredFile, range: string | null): Response {
  const { size_bytes, content_type } = file;
  const headers: Record<string, string> = {
    'content-type': content_type,
    'accept-ranges': 'bytes',
    'content-disposition': 'inline',
    'cache-control': 'private, max-age=3600',
    // A file is what its type says, and never a page with scripts.
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

/** One range; several, or nonsense, are answered with the whole (RFC 9110, 14.2). */
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
  return new WeirError('not_found', 'There is no such file.');
}
