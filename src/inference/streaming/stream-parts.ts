import type { ChannelPermit } from '../../actors/channels/channel.ts';
import type { Reservation, Settlement } from '../../actors/money/reservation.ts';
import type { AnswerUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamProtocol, UpstreamStream } from '../../upstreams/contract.ts';
import type { Budget } from '../budget/budget.ts';
import type { Lookup } from '../cache/answer-cache.ts';
import type { ChatFlight } from '../cache/chat-flight.ts';
import type { InferenceCall } from '../call.ts';
import type { StopSignal } from './stop-signal.ts';

/** The writer of the response body. */
export interface StreamClient {
  write(text: string): unknown;
  flush(): unknown;
  end(): unknown;
}

/** An upstream's stream. Its events up to the first token were already read, and are in `first` until they are sent. */
export interface OpenStream {
  readonly protocol: UpstreamProtocol;
  readonly stream: UpstreamStream;
  readonly iterator: AsyncIterator<StreamEvent[]>;
  first: readonly StreamEvent[];
  readonly permit: ChannelPermit;
  /** Stops the upstream. */
  readonly stop: StopSignal;
}

/** A charge, and the usage that it is for. */
export interface PaidUsage extends Settlement {
  readonly usage: AnswerUsage;
}

export interface StreamDeps {
  call: InferenceCall;
  open: OpenStream;
  reservation: Reservation;
  budget: Budget;
  /** Stores a complete answer; undefined if the answer must not be stored. */
  lookup?: Lookup | undefined;
  /** The identical calls that follow this one. */
  flight?: ChatFlight | undefined;
  onError: (error: unknown) => void;
}
