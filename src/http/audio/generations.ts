import type { Handler } from '../endpoint.ts';
import { generationRoute } from '../generation-route.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';

/** Words only. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * `POST /v1/audio/generations`, sounds that are no music: always a task. The specification has the
 * category and shows no route for it; this one is as its other routes of generations are.
 */
export function createSound(deps: GenerationRouteDeps): Handler {
  return generationRoute(deps, {
    scene: 'audio',
    path: '/v1/audio/generations',
    max_body_bytes: MAX_BODY_BYTES,
  });
}
