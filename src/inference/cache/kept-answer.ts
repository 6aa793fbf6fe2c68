import type { AnswerUsage } from '../../protocols/token-usage.ts';
import type { CutText } from '../../upstreams/replay/fresh-names.ts';

/** An answer that may be sent again. */
export interface KeptAnswer {
  /** The answer as the client got it: a JSON text, or the text of its events. */
  readonly text: string;
  /** The text in pieces, if it was sent in several. */
  readonly pieces?: readonly string[];
  readonly is_stream: boolean;
  /** The charged usage. Null for calls whose answers have none of their own. */
  readonly usage: AnswerUsage | null;
  /** What the answer cost, nano-USD. */
  readonly cost_nano_usd: number;
}

/** The events of a stream. Nobody needs their text as one, unless the call has followers or replicas share answers. */
export class KeptStream implements KeptAnswer {
  readonly is_stream = true;

  constructor(
    readonly pieces: readonly string[],
    readonly usage: AnswerUsage | null,
    readonly cost_nano_usd: number,
  ) {}

  get text(): string {
    return this.pieces.join('');
  }
}

/** The whole answer of a chat call, ready to be sent again. */
export interface WholeAnswer {
  /** JSON text in the client's protocol. */
  readonly text: string;
  /** The id of the answer. */
  readonly own_id: unknown;
  /** The ids of tool calls and items. */
  readonly other_ids: readonly unknown[];
  /** The text cut at its ids, once it was sent again. */
  cut?: CutText;
  /** The same of the events of a stream, once they were sent, by the form of the stream. */
  streams?: Map<string, CutText>;
}
