/**
 * Free TCP ports.
 */
import { createServer } from 'node:net';

/**
 * A free port of the loopback interface. Another process may take it before the
 * caller does, so start servers with a retry on another port.
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
