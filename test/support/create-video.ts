import type { RunningWeir } from './weir.ts';

/**
 * Creates a video whose simulated job takes `task_ms`. Returns the id of the task.
 *
 * @throws with the answer if Weir does not accept it.
 */
export async function createVideo(
  { base_url, api_key }: Pick<RunningWeir, 'base_url' | 'api_key'>,
  model: string,
  task_ms: number,
): Promise<string> {
  const response = await fetch(`${base_url}/v1/videos/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt: `A lighthouse [[sim task_ms=${task_ms}]]` }),
  });
  const answer = (await response.json()) as { id?: string };
  if (answer.id === undefined) throw new Error(`${response.status}: ${JSON.stringify(answer)}`);
  return answer.id;
}
