import { WeirError } from '../../errors/weir-error.ts';
import type { StoredOutput } from '../../inference/tasks/port.ts';
import type { CountedBody } from '../../upstreams/transport/body-budget.ts';
import type { GenerationPorts } from '../tasks/ports.ts';

/**
 * Reads a stored image. The image is already charged. So if it cannot be read, the error tells the
 * client the id of its task.
 */
export async function base64Of(
  { file }: StoredOutput,
  ports: GenerationPorts,
  task_id: string,
  counted: CountedBody,
): Promise<string> {
  try {
    const stored = file === undefined ? undefined : await ports.openFile(file);
    if (!stored) throw new Error(`the file ${file} of task ${task_id} is missing`);
    const pieces: Uint8Array[] = [];
    for await (const piece of stored.stream) {
      counted.add(piece.byteLength);
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString('base64');
  } catch (error) {
    const hint = `Send GET /v1/tasks/${task_id} for the URL of the image.`;
    const message = 'The image was created, but it cannot be read now.';
    const id = error instanceof WeirError ? error.id : 'internal_error';
    throw new WeirError(id, message, { hint, retryable: false }, error);
  }
}
