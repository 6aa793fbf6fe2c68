/** A `fetch` for an SDK whose provider is simulated. It records what the SDK submits. */

/** A request that an SDK sent: its path at the provider, and its body as JSON. */
interface SdkRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export interface RecordedFetch {
  readonly fetch: typeof fetch;
  /** The requests with a body, oldest first. */
  readonly submissions: readonly SdkRequest[];
}

/** Sends requests for a host of `hosts` to `base_url` instead, and records each request. */
export function recordedFetch(base_url: string, hosts: readonly string[] = []): RecordedFetch {
  const submissions: SdkRequest[] = [];
  const send = async (input: string, init?: RequestInit) => {
    const request = new Request(input, init);
    const asked = new URL(request.url);
    const url = hosts.includes(asked.host) ? base_url + asked.pathname + asked.search : request.url;
    const sent = request.method === 'GET' ? undefined : await request.arrayBuffer();
    const isJson = (request.headers.get('content-type') ?? '').includes('json');
    if (sent && sent.byteLength > 0) {
      submissions.push({
        method: request.method,
        path: url.replace(base_url, ''),
        body: isJson ? JSON.parse(new TextDecoder().decode(sent)) : undefined,
      });
    }
    const { method, headers, signal } = request;
    const response = await fetch(url, { method, headers, signal, ...(sent ? { body: sent } : {}) });
    const [host] = hosts;
    if (host === undefined) return response;
    // An SDK polls only URLs of its provider's own host.
    const text = (await response.text()).replaceAll(base_url, `https://${host}`);
    return new Response(text, { status: response.status, headers: response.headers });
  };
  return { fetch: send as unknown as typeof fetch, submissions };
}
