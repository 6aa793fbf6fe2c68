import { Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';

/** The content of one text that a transport carries. */
export interface Envelope {
  /** The id of the replica that sent it. */
  readonly from: string;
  /** A random id of the sender's process. A restarted process has another id. */
  readonly run: string;
  /**
   * The number of this envelope in its run, from 1. An envelope without messages is a heartbeat.
   * Its `seq` repeats the latest number of the run.
   */
  readonly seq: number;
  /** Topics with their messages. If a message is null, the sender lost a message of the topic. */
  readonly messages: readonly (readonly [topic: string, message: unknown])[];
  /** True if the sender stops after this envelope. Its later silence is then no gap. */
  readonly last?: boolean;
}

const check = TypeCompiler.Compile(
  Type.Object({
    from: Type.String(),
    run: Type.String({ minLength: 1 }),
    seq: Type.Integer({ minimum: 0 }),
    messages: Type.Array(Type.Tuple([Type.String(), Type.Unknown()])),
    last: Type.Optional(Type.Boolean()),
  }),
);

/** Returns the envelope that a text contains; undefined if the text is not an envelope. */
export function parseEnvelope(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return check.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the text of an envelope. `messages` are JSON texts, so that each message is serialized
 * once, when it is published.
 */
export function envelopeText(
  head: Omit<Envelope, 'messages'>,
  messages: readonly string[] = [],
): string {
  return `${JSON.stringify(head).slice(0, -1)},"messages":[${messages.join(',')}]}`;
}
