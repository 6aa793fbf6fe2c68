import type { Fault } from '../../../../src/errors/fault.ts';
import type { ChannelProtocol } from '../../../../src/protocols/names.ts';
import type { TerminalUpstreamError } from '../../../../src/upstreams/contract.ts';

/** An error that a provider really sends. */
export interface ErrorPayload {
  readonly status: number;
  /** JSON, or a text. */
  readonly body: object | string;
  readonly fault: Fault;
  /**
   * Where the error stands, precise enough to be opened again; see `isProved`. If absent, the source
   * of the list.
   */
  readonly source?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Set if the error needs the protocol of its channel to be understood. */
  readonly protocol?: ChannelProtocol;
  /** The error for the client, if the caller is at fault. If absent, `invalid_request`. */
  readonly error_id?: TerminalUpstreamError['error_id'];
  /** The wait that the provider requests, ms. */
  readonly wait_ms?: number;
}

/** The errors of one vendor. */
export interface VendorErrors {
  readonly vendor: string;
  /** The source of every payload without a source of its own. */
  readonly source?: string;
  readonly payloads: readonly ErrorPayload[];
}

const PRECISE = [
  /^https:\/\/[\w.-]+\/\S+$/,
  // A thread: `owner/repo#123`.
  /^[\w.-]+\/[\w.-]+#\d+$/,
  // A file: `owner/repo path`.
  /^[\w.-]+\/[\w.-]+ \S*[./]\S*$/,
  // A file of a package: `package@version path`.
  /^(?:@[\w.-]+\/)?[\w.-]+@\d[\w.-]* \S*[./]\S*$/,
];

/**
 * True if a source names one page, one thread or one file. The payload was read there. A payload
 * without such a source is unproved.
 */
export const isProved = (source: string | undefined): source is string =>
  source !== undefined && PRECISE.some((form) => form.test(source));

type More = Omit<ErrorPayload, 'status' | 'body' | 'fault'>;

/** One error of a list. */
export const sent = (
  status: number,
  fault: Fault,
  body: object | string,
  more: More = {},
): ErrorPayload => ({ status, fault, body, ...more });

/** The body of OpenAI's errors. */
export const openai = (
  message: string,
  type: string | null,
  code: string | number | null = null,
  param: string | null = null,
): object => ({ error: { message, type, param, code } });
