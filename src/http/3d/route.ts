import { MAX_INFERENCE_BODY_BYTES } from '../body.ts';
import type { Handler } from '../endpoint.ts';
import { generationRoute } from '../generation-route.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';

/**
 * `POST /v1/3d/generations`. The response is always a task. The specification lets clients list 3D
 * models by rank (`recommended_for=3d`), but shows no route that creates 3D objects. So this route
 * works like the other generation routes.
 */
export function createSolid(deps: GenerationRouteDeps): Handler {
  return generationRoute(deps, {
    scene: '3d',
    path: '/v1/3d/generations',
    max_body_bytes: MAX_INFERENCE_BODY_BYTES,
  });
}
