import { expect, test } from 'bun:test';
import { startWeir } from '../support/weir.ts';

const options = { config: JSON.stringify({ channels: [] }), shared_database: true };

test('a second Weir does not start on the port of the first, where it would get half of its calls', async () => {
  const first = await startWeir(options);
  try {
    const second = startWeir({ ...options, port: first.port });
    await expect(
      second.then(
        (weir) => weir.stop().then(() => 'started'),
        (error: unknown) => String(error),
      ),
    ).resolves.toContain(
      `Port ${first.port} is in use by another process. Choose another port with --port.`,
    );
  } finally {
    await first.stop();
  }
}, 120_000);

test('Weir starts again at once on the port of a killed one, while connections to it are open', async () => {
  const first = await startWeir(options);
  const open = await fetch(`${first.base_url}/healthz`);
  first.kill('SIGKILL');
  await first.exited;
  const second = await startWeir({ ...options, port: first.port });
  try {
    await open.text();
    expect((await fetch(`${second.base_url}/healthz`)).status).toBe(200);
  } finally {
    await second.stop();
    await first.stop();
  }
}, 120_000);
