import { destinationOf } from '../../../src/upstreams/transport/http1/pool.ts';
import { until } from '../../support/until.ts';
import { post } from './http1/post.ts';
import { answerOf, type TcpUpstream } from './tcp-upstream.ts';

/** Sends requests until connections to the host are reused at once. */
export async function proveHost(url: string): Promise<void> {
  const { conduct } = destinationOf('calls', url).origin;
  await until('the host is proven', async () => {
    await (await post(url, {}, '{}').response).text();
    return conduct.isProven;
  });
}

/** Like `proveHost`. Afterwards the upstream has received nothing, and answers as before. */
export async function proveUpstream(upstream: TcpUpstream): Promise<void> {
  const { respond } = upstream;
  upstream.respond = ({ socket }) => socket.write(answerOf('ok'));
  await proveHost(upstream.url);
  upstream.respond = respond;
  upstream.received = [];
}
