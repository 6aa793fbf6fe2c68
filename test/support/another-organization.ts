import type { RunningWeir } from './weir.ts';

/** Creates an organization with money, and returns the secret of an API key of it. */
export async function newOrganization(
  weir: RunningWeir | undefined,
  name: string,
): Promise<string> {
  if (!weir) throw new Error('there is no such replica');
  const send = async (path: string, token: string, body: object) => {
    const response = await fetch(`${weir.base_url}/v1${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { id: string; management_token: string; key: string };
  };
  const operate = (path: string, body: object) =>
    send(`/operator/organizations${path}`, weir.operator_token, body);
  const { id, management_token } = await operate('', { name, management_token: true });
  await operate(`/${id}/deposits`, { amount: 10, reference: 'a test' });
  return (await send('/management/api-keys', management_token, { name: 'first' })).key;
}
