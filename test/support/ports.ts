/**
 * Free TCP ports.
 */
import { createServer } from 'node:net';

/**
 * A port of the loopback interface that nobody listened on a moment ago. Somebody may take it before
 * the caller does: start servers with a retry on another one.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port'));
        else resolve(address.port);
      });
    });
  });
}
