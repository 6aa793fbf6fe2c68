/** A process that sends a request with a client and prints the body of the response, or the error. */
import type { TransportName } from '../../../src/upstreams/contract.ts';
import { HTTP_CLIENTS } from '../../../src/upstreams/transport/clients.ts';
import { allowGuardedHosts } from '../../../src/upstreams/transport/http1/guarded-connection.ts';

const [url = '', transport = 'own'] = process.argv.slice(2);
allowGuardedHosts(new Set([new URL(url).host]));
const request = { method: 'POST', url, headers: {}, pool: 'calls', may_repeat: true } as const;
const result = await HTTP_CLIENTS[transport as TransportName](request)
  .response.then((response) => response.text())
  .catch(({ name, code }: { name: string; code?: string }) => `${name} ${code}`);
console.log(result);
process.exit(0);
