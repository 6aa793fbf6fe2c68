/** Requests to the management interface, as a program sends them. */
import type { RunningWeir } from '../../../support/weir.ts';

/** Sends a request with the management token of the first run. Throws if it is refused. */
export async function manage<Answer>(
  { base_url, management_token }: RunningWeir,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const answer = await fetch(`${base_url}/v1/management/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${management_token}`,
      'content-type': 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}
