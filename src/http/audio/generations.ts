import type { Handler } from '../endpoint.ts';
import { generationRoute } from '../generation-route.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';

/** The body holds only text, so a small limit is enough. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * `POST /v1/audio/generations` makes sounds other than music. The response is always a task. The
 * specification has the category `audio` but shows no route for it. So this route works like the
 * other generation routes.
 */
export function createSound(deps: GenerationRouteDeps): Handler {
  return generationRoute(deps, {
    scene: 'audio',
    path: '/v1/audio/generations',
    max_body_bytes: MAX_BODY_BYTES,
  });
}
