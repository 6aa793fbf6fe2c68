/** A call of a provider's SDK, and the call of Weir that means the same. */
import type { GenerationProtocolName } from '../../../src/protocols/names.ts';
import type { RecordedFetch } from '../../support/recorded-fetch.ts';

export const PROMPT = 'A lighthouse in a storm [[sim task_ms=50]]';
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const PICTURE = `data:image/png;base64,${PNG}`;
export const FILM = 'https://example.com/film.mp4';
export const SOUND = 'data:audio/mpeg;base64,AAAA';
export const poll = { intervalMs: 20 };
/** The simulator's files are on this machine, which the AI SDK's own download refuses. */
export const download = async ({ url }: { url: URL }) => {
  const response = await fetch(url);
  return { data: await response.bytes(), mediaType: 'video/mp4' };
};

interface Call {
  readonly url: string;
  readonly key: string;
  readonly fetch: RecordedFetch['fetch'];
}

/** A call of Weir that means the same as the call of the SDK. */
interface Same {
  readonly model: string;
  readonly body: object;
  /** Members of the SDK's body that Weir does not send, and why the result is the same. */
  readonly only_sdk?: readonly string[];
  /** Members of Weir's body that the SDK does not send. */
  readonly only_weir?: readonly string[];
}

export interface Row {
  readonly name: string;
  readonly protocol: GenerationProtocolName;
  readonly path: string;
  readonly hosts?: readonly string[];
  readonly run: (call: Call) => Promise<readonly (Uint8Array | string)[]>;
  readonly same?: Same;
}

export const bytesOf = (files: readonly { uint8Array: Uint8Array }[]) =>
  files.map(({ uint8Array }) => uint8Array);
