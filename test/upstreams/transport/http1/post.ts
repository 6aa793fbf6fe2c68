import type { SentRequest } from '../../../../src/upstreams/transport/http.ts';
import { sendWithHttp1 } from '../../../../src/upstreams/transport/http1/client.ts';

/** POSTs JSON with Weir's own client, as a chat call does. */
export function post(url: string, headers: Record<string, string>, content: string): SentRequest {
  return sendWithHttp1({
    ...{ method: 'POST', url, headers, pool: 'calls', may_repeat: true },
    body: { content, content_type: 'application/json' },
  });
}
