import type { TObject } from '@sinclair/typebox';
import type { GenerationInput, VideoOperation } from '../inputs.ts';

/** What clients send: JSON, checked for nothing yet. */
export type Body = Readonly<Record<string, unknown>>;

/** What one model takes: its family's contract, narrowed to what the model offers (design 5). */
export interface GenerationContract {
  /** The parameters as JSON Schema; published as `public_contract`. */
  readonly schema: TObject;
  /** Operations of a video model, else empty. */
  readonly operations: readonly VideoOperation[];
  /** Rules that the schema cannot say, in words for people. */
  readonly rules: readonly string[];
  /**
   * Checks a body and gives it back in canonical form: aliases resolved, defaults filled in, what
   * means nothing to the model left out. Throws WeirError `invalid_request`, `payload_too_large`.
   */
  accept(body: Body): GenerationInput;
}
