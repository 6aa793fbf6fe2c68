import type { Handler } from '../endpoint.ts';
import { generationRoute } from '../generation-route.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';

/** The body holds only text, so a small limit is enough. */
const MAX_MUSIC_BODY_BYTES = 1024 * 1024;

/** `POST /v1/music/generations` (spec: Music generation). The response is always a task. */
export function createMusic(deps: GenerationRouteDeps): Handler {
  return generationRoute(deps, {
    scene: 'music',
    path: '/v1/music/generations',
    max_body_bytes: MAX_MUSIC_BODY_BYTES,
  });
}
