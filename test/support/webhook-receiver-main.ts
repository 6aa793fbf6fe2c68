/**
 * A receiver of webhooks for tests, as a process of its own. It prints its port, and then each webhook as one line of
 * JSON. A path `/status/503` answers with this status; any other path answers with 204.
 */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    process.stdout.write(`${JSON.stringify({ pathname, headers, body: await request.text() })}\n`);
    const [, status = '204'] = /^\/status\/(\d+)/.exec(pathname) ?? [];
    return new Response(null, { status: Number(status) });
  },
});
process.stdout.write(`${server.port}\n`);
