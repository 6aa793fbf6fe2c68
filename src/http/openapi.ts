import { gzipSync } from 'node:zlib';
import type { Handler } from './endpoint.ts';

/** Printed by `bun run reference`. It is read at run time, because docs/ imports the routes. */
const FILE = new URL('../../docs/openapi.json', import.meta.url);

interface Document {
  readonly plain: string;
  readonly zipped: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

let loaded: Promise<Document> | undefined;

async function load(): Promise<Document> {
  // The file has a line for each member, so that a change of it can be read.
  const plain = JSON.stringify(await Bun.file(FILE).json());
  const hash = new Bun.CryptoHasher('sha256').update(plain).digest('hex').slice(0, 16);
  return { plain, zipped: gzipSync(plain), etag: `W/"${hash}"` };
}

/**
 * `GET /openapi.json`: the API reference as an OpenAPI 3.1 document, for anybody: it is the same on every
 * installation. It is read and compressed once.
 */
export const getOpenapi: Handler = async ({ request }) => {
  loaded ??= load();
  const { plain, zipped, etag } = await loaded.catch((error: unknown) => {
    loaded = undefined;
    throw error;
  });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'cache-control': 'public, max-age=300',
    vary: 'accept-encoding',
    etag,
  };
  if (request.headers.get('if-none-match') === etag)
    return new Response(null, { status: 304, headers });
  if (!/\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')) {
    return new Response(plain, { headers });
  }
  headers['content-encoding'] = 'gzip';
  return new Response(zipped, { headers });
};
