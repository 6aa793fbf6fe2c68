import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TRANSPORTS } from '../../../src/upstreams/contract.ts';
import { HTTP_CLIENTS } from '../../../src/upstreams/transport/clients.ts';
import { allowGuardedHosts } from '../../../src/upstreams/transport/http1/guarded-connection.ts';
import { failureOf } from '../../support/failure-of.ts';
import { removeFolder, throwawayFolder } from '../../support/throwaway.ts';
import { AUTHORITY, ELSEWHERE, LOCALHOST } from './certificates.ts';
import { readClientHello } from './client-hello.ts';

const PROGRAM = fileURLToPath(new URL('tls-ask.ts', import.meta.url));

describe.each([...TRANSPORTS, 'guarded'] as const)(
  'requests over TLS with the client %s',
  (transport) => {
    /** Sends a request to a server with this certificate, in a process with this environment. */
    async function askServer(
      certificate: { cert: string; key: string },
      isTrusted: boolean,
      more: Record<string, string> = {},
    ): Promise<string> {
      const folder = throwawayFolder('tls');
      const authority = join(folder, 'authority.pem');
      writeFileSync(authority, AUTHORITY);
      let received = 0;
      const upstream = Bun.serve({
        port: 0,
        tls: certificate,
        fetch() {
          received += 1;
          return new Response('hello');
        },
      });
      const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
      const child = Bun.spawn(
        [process.execPath, PROGRAM, `https://localhost:${upstream.port}/`, transport],
        {
          env: { ...env, ...(isTrusted ? { NODE_EXTRA_CA_CERTS: authority } : {}), ...more },
          stdout: 'pipe',
          stderr: 'ignore',
        },
      );
      const output = (await new Response(child.stdout).text()).trim();
      await upstream.stop(true);
      removeFolder(folder);
      return `${output} (${received} received)`;
    }

    const UNTRUSTED = 'UnsentRequestError UNABLE_TO_VERIFY_LEAF_SIGNATURE (0 received)';

    test('are sent only if the certificate is trusted and names the host', async () => {
      expect(await askServer(LOCALHOST, true)).toBe('hello (1 received)');
      expect(await askServer(LOCALHOST, false)).toBe(UNTRUSTED);
      expect(await askServer(ELSEWHERE, true)).toBe(
        'UnsentRequestError ERR_TLS_CERT_ALTNAME_INVALID (0 received)',
      );
    });

    test('check the certificate also if the environment disables checks', async () => {
      expect(await askServer(LOCALHOST, false, { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toBe(
        UNTRUSTED,
      );
    });

    test('name the host and offer TLS 1.2 and 1.3 only', async () => {
      const first = Promise.withResolvers<Buffer>();
      const listener = Bun.listen({
        hostname: '127.0.0.1',
        port: 0,
        socket: {
          data(socket, bytes) {
            first.resolve(bytes);
            socket.end();
          },
        },
      });
      allowGuardedHosts(new Set([`localhost:${listener.port}`]));
      const sent = HTTP_CLIENTS[transport]({
        ...{ method: 'GET', url: `https://localhost:${listener.port}/`, headers: {} },
        ...{ pool: 'calls', may_repeat: false },
      });
      expect(await failureOf(sent.response)).toBeInstanceOf(Error);
      const hello = readClientHello(await first.promise);
      expect(hello.server_name).toBe('localhost');
      expect(hello.versions.sort()).toEqual([0x0303, 0x0304]);
      listener.stop(true);
    });
  },
);
