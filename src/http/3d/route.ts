import { MAX_INFERENCE_BODY_BYTES } from '../body.ts';
import type { Handler } from '../endpoint.ts';
import { generationRoute } from '../generation-route.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';

/**
 * `POST /v1/3d/generations`. The response is always a task. The specification ranks models of this
 * scene but shows no route for them. This route works like the other generation routes.
 */
export function createSolid(deps: GenerationRouteDeps): Handler {
  return generationRoute(deps, {
    scene: '3d',
    path: '/v1/3d/generations',
    max_body_bytes: MAX_INFERENCE_BODY_BYTES,
  });
}
