/** What a TLS client offers in the first message of a handshake (RFC 8446, 4.1.2). */
export interface ClientHello {
  /** The host that the client names (RFC 6066, 3). */
  server_name: string;
  /** The offered protocol versions, e.g. 0x0304 for TLS 1.3. */
  versions: number[];
}

const SERVER_NAME = 0;
const SUPPORTED_VERSIONS = 43;

/** Parses the first record of a connection. Values between 0x0a0a and 0xfafa are noise (RFC 8701). */
export function readClientHello(record: Buffer): ClientHello {
  const hello: ClientHello = { server_name: '', versions: [] };
  // The record's header has 5 bytes, the message's header 4, the version 2, the random value 32.
  let at = 5 + 4 + 2 + 32;
  at += 1 + record.readUInt8(at);
  at += 2 + record.readUInt16BE(at);
  at += 1 + record.readUInt8(at);
  const end = at + 2 + record.readUInt16BE(at);
  for (at += 2; at < end; ) {
    const type = record.readUInt16BE(at);
    const length = record.readUInt16BE(at + 2);
    const body = record.subarray(at + 4, at + 4 + length);
    if (type === SERVER_NAME) hello.server_name = body.toString('latin1', 5);
    if (type === SUPPORTED_VERSIONS) {
      for (let each = 1; each < body.length; each += 2) {
        const version = body.readUInt16BE(each);
        if ((version & 0x0f0f) !== 0x0a0a) hello.versions.push(version);
      }
    }
    at += 4 + length;
  }
  return hello;
}
