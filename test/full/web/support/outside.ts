/** What an organization has outside of Weir: an account at a provider, and a receiver of alerts. */

/** The provider accepts all other keys. */
export const WRONG_KEY = 'sk-wrong';
const MODELS = ['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small'];

/** A server that is a provider with OpenAI's protocol, and takes webhooks. */
export interface Outside {
  /** Settings with which Weir may reach it. */
  readonly env: Record<string, string>;
  /** The address of the provider. */
  readonly provider_url: string;
  /** The address that takes webhooks. */
  readonly hook_url: string;
  /** The bodies of the webhooks, the oldest first. */
  readonly received: readonly string[];
  /** Makes the provider refuse every key, or accept them again. */
  refuse(isRefused: boolean): void;
  stop(): Promise<void>;
}

export function startOutside(): Outside {
  const received: string[] = [];
  let refusesAll = false;
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/hook') {
        received.push(await request.text());
        return new Response(null, { status: 204 });
      }
      const isWrong = request.headers.get('authorization') === `Bearer ${WRONG_KEY}`;
      if (refusesAll || isWrong) {
        return problem(401, 'Incorrect API key provided.', 'invalid_api_key');
      }
      if (pathname !== '/v1/models') return problem(400, 'messages is required.', null);
      const data = MODELS.map((id) => ({ object: 'model', id }));
      return Response.json({ object: 'list', data });
    },
  });
  const host = `127.0.0.1:${server.port}`;
  return {
    env: {
      ...{ WEIR_OWN_KEY_ALLOW_HOSTS: host, WEIR_WEBHOOK_ALLOW_HOSTS: host },
      WEIR_ALERT_INTERVAL_S: '1',
    },
    provider_url: `http://${host}/v1`,
    hook_url: `http://${host}/hook`,
    received,
    refuse(isRefused) {
      refusesAll = isRefused;
    },
    stop: () => server.stop(true),
  };
}

function problem(status: number, message: string, code: string | null): Response {
  return Response.json({ error: { message, type: 'invalid_request_error', code } }, { status });
}
