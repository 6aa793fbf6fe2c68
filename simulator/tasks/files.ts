import { hashText } from '../shared/random.ts';
import type { Job } from './jobs.ts';
import { MEDIA_TYPES, type MediaKind, mediaOf } from './media.ts';

/** Where results lie; the address is signed, and good for a while. */
export const FILES_PREFIX = '/_sim/files/';

/** The address of a job's n-th result, counted from its end. */
export function fileUrl(origin: string, job: Job, index: number): string {
  const { kind, width = 256, height = 256, script, began_at } = job;
  const expires = began_at + script.task_ms + script.url_ms;
  const name = `${kind}-${job.id}-${index}-${width}x${height}`;
  return `${origin}${FILES_PREFIX}${name}?expires=${expires}&sig=${signature(name, expires)}`;
}

export function addressesOf(origin: string, job: Job): string[] {
  if (job.script.no_url) return [];
  return Array.from({ length: job.outputs }, (_, index) => fileUrl(origin, job, index));
}

/** Serves a result, or 403 as object stores do once the address has expired. */
export function serveFile(path: string, request: Request): Response {
  const url = new URL(request.url);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const expires = Number(url.searchParams.get('expires'));
  const good = url.searchParams.get('sig') === signature(name, expires) && Date.now() < expires;
  const [, kind, width, height] = /^(image|video|audio|model)-.*-(\d+)x(\d+)$/.exec(name) ?? [];
  if (!good || !kind)
    return new Response('<Error><Code>AccessDenied</Code></Error>', { status: 403 });
  const bytes = mediaOf(kind as MediaKind, name, Number(width), Number(height));
  return new Response(bytes, { headers: { 'content-type': MEDIA_TYPES[kind as MediaKind] } });
}

function signature(name: string, expires: number): string {
  return hashText(`${name} ${expires}`, 7).toString(36);
}
