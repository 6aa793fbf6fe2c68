/** A request to a provider that its documentation or a stranger's code shows. */
import type { GenerationProtocolName } from '../../../../src/protocols/names.ts';

/** A call of Weir with the same meaning. */
interface SameCall {
  readonly model: string;
  readonly call: object;
  /** Members of the documented body that Weir does not send. */
  readonly not_sent?: readonly string[];
  /** Members of Weir's body that the documented one lacks. */
  readonly more?: readonly string[];
}

export interface DocumentedRequest {
  readonly protocol: GenerationProtocolName;
  readonly source: string;
  /** Below the provider's base URL. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** True if the body is a multipart form. A file in it is a Blob, and several are a list of Blobs. */
  readonly form?: boolean;
  readonly same?: SameCall;
}

/** The requests of one source. */
export const shown = (
  protocol: GenerationProtocolName,
  source: string,
  ...requests: readonly Omit<DocumentedRequest, 'protocol' | 'source'>[]
): DocumentedRequest[] => requests.map((request) => ({ protocol, source, ...request }));

export const PNG_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const IMAGE = 'https://example.com/a.png';
export const OTHER_IMAGE = 'https://example.com/b.png';
export const VIDEO = 'https://example.com/a.mp4';
/** A picture that Weir sends without downloading it. */
export const INLINE = `data:image/png;base64,${PNG_BASE64}`;
export const FILE = new File([Buffer.from(PNG_BASE64, 'base64')], 'a.png', { type: 'image/png' });
