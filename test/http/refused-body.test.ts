/** The connection of a refused request whose body is still arriving. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { type RunningWeir, startWeir } from '../support/weir.ts';

const MB = 1024 * 1024;
let weir: RunningWeir;

beforeAll(async () => {
  weir = await startWeir({ shared_database: true, env: { WEIR_BODY_MEMORY_MB: '8' } });
});
afterAll(() => weir?.stop());

/** Sends the head of a request and one byte of its body. Resolves when the answer has arrived. */
async function answerTo(key: string, length: number): Promise<{ head: string; isClosed: boolean }> {
  const socket = connect(weir.port, '127.0.0.1');
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<'closed'>();
  const { promise: answered, resolve: onAnswered } = Promise.withResolvers<void>();
  let head = '';
  socket.on('close', () => onClosed('closed'));
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    head += bytes.toString('latin1');
    if (head.includes('\r\n\r\n')) onAnswered();
  });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{`,
  );
  await answered;
  const isClosed = /^connection: close\r$/im.test(head);
  if (isClosed) await closed;
  socket.destroy();
  return { head, isClosed };
}

describe('P20: the connection of a request that is refused before its body has arrived', () => {
  test.each([
    ['a wrong key', 'sk-wrong', 31 * MB, 401],
    ['a body above the limit', undefined, 40 * MB, 413],
    ['a body without room', undefined, 7 * MB, 413],
  ])('is closed if the body is large: %s', async (_, key, length, status) => {
    const { head, isClosed } = await answerTo(key ?? weir.api_key, length);
    expect(head).toStartWith(`HTTP/1.1 ${status} `);
    expect(isClosed).toBeTrue();
  });

  test('stays open if the body is small', async () => {
    const { head, isClosed } = await answerTo('sk-wrong', 64 * 1024);
    expect(head).toStartWith('HTTP/1.1 401 ');
    expect(isClosed).toBeFalse();
  });
});
