import { hashText } from '../shared/random.ts';
import type { Job } from './jobs.ts';
import { MEDIA_TYPES, type MediaKind, mediaOf } from './media.ts';

/** Path prefix of results. Their URLs are signed and expire. */
export const FILES_PREFIX = '/_sim/files/';

/** The URL of one result of a job; its lifetime starts when the job ends. */
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

/** Serves a result; returns 403 after the URL has expired, as object stores do. */
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
