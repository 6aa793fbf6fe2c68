import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/**
 * A client of the lane's pool that begins a transaction, runs `locking`, and then falls silent in
 * the middle of a statement: it asked for the types of a statement and never sends its values
 * (PostgreSQL docs: Message Flow, extended query). A driver that is paused there looks the same.
 */
export async function startSilentClient(url: string, locking: string): Promise<Socket> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const settings = {
    user: username,
    database: pathname.slice(1),
    application_name: 'weir:lane',
    statement_timeout: '1500',
    idle_in_transaction_session_timeout: '1000',
  };
  const pairs = Object.entries(settings).flatMap(([name, value]) => [text(name), text(value)]);
  const next = messages(socket);
  socket.write(sized(Buffer.concat([Buffer.from([0, 3, 0, 0]), ...pairs, Buffer.from([0])])));
  await logIn(socket, next, password);
  socket.write(message('Q', text(`begin; ${locking}`)));
  await next('Z');
  const parse = Buffer.concat([text(''), text('select 1'), Buffer.from([0, 0])]);
  const describe = Buffer.concat([Buffer.from('S'), text('')]);
  socket.write(Buffer.concat([message('P', parse), message('D', describe), message('H')]));
  await next('T');
  return socket;
}

type Next = (type: string) => Promise<Buffer>;

/** SCRAM-SHA-256 (RFC 7677). */
async function logIn(socket: Socket, next: Next, password: string): Promise<void> {
  await next('R');
  const nonce = randomBytes(12).toString('base64');
  const first = `n=,r=${nonce}`;
  const hello = Buffer.from(`n,,${first}`);
  socket.write(message('p', Buffer.concat([text('SCRAM-SHA-256'), sized(hello, 0), hello])));
  const challenge = (await next('R')).subarray(4).toString();
  const [, server_nonce = '', salt = '', rounds = ''] =
    /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(challenge) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(rounds), 32, 'sha256');
  const client_key = createHmac('sha256', salted).update('Client Key').digest();
  const stored = createHash('sha256').update(client_key).digest();
  const last = `c=biws,r=${server_nonce}`;
  const signature = createHmac('sha256', stored).update(`${first},${challenge},${last}`).digest();
  const proof = client_key.map((byte, at) => byte ^ (signature[at] ?? 0));
  socket.write(message('p', Buffer.from(`${last},p=${Buffer.from(proof).toString('base64')}`)));
  await next('Z');
}

const text = (value: string) => Buffer.from(`${value}\0`);

/** A body behind its length; `own` = the bytes of the length that count. */
function sized(body: Buffer, own = 4): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + own);
  return own === 0 ? length : Buffer.concat([length, body]);
}

const message = (type: string, body = Buffer.alloc(0)) =>
  Buffer.concat([Buffer.from(type), sized(body)]);

/** Returns a function that resolves with the body of the next message of a type. */
function messages(socket: Socket): Next {
  let bytes = Buffer.alloc(0);
  const arrived: { type: string; body: Buffer }[] = [];
  let wake: () => void = () => undefined;
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, typeof chunk === 'string' ? Buffer.from(chunk) : chunk]);
    while (bytes.length >= 5 && bytes.length > bytes.readInt32BE(1)) {
      const end = bytes.readInt32BE(1) + 1;
      arrived.push({ type: bytes.toString('latin1', 0, 1), body: bytes.subarray(5, end) });
      bytes = bytes.subarray(end);
    }
    wake();
  });
  return async (type) => {
    for (;;) {
      for (let each = arrived.shift(); each; each = arrived.shift()) {
        if (each.type === type) return each.body;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}
