import type { Fault } from '../../../../src/errors/fault.ts';
import type { ChannelProtocol } from '../../../../src/protocols/names.ts';
import type { TerminalUpstreamError } from '../../../../src/upstreams/contract.ts';

/** An error that a provider really sends. */
export interface ErrorPayload {
  readonly status: number;
  /** JSON, or a text. */
  readonly body: object | string;
  readonly fault: Fault;
  /** Where the error was seen. If absent, the source of the list. */
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
  readonly source: string;
  readonly payloads: readonly ErrorPayload[];
}

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
