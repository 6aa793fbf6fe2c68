import type { Handler } from '../endpoint.ts';
import { generationRoute } from '../generation-route.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';
import { withPlainUrls } from './xai.ts';

/** Enough for two inline images of the largest size in Base64, and the other parameters. */
const MAX_VIDEO_BODY_BYTES = 64 * 1024 * 1024;

/** `POST /v1/videos/generations` (spec: Video generation). The response is always a task. */
export function createVideo(deps: GenerationRouteDeps): Handler {
  return generationRoute(deps, {
    scene: 'video',
    path: '/v1/videos/generations',
    max_body_bytes: MAX_VIDEO_BODY_BYTES,
    complete: (_request, _key, body) => withPlainUrls(body),
  });
}
