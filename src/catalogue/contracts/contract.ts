import type { TObject } from '@sinclair/typebox';
import type { GenerationInput, VideoOperation } from '../inputs.ts';

/** A parsed JSON body of a client, before its validation. */
export type Body = Readonly<Record<string, unknown>>;

/** The contract of one model: its family's contract, limited to the model's offers. */
export interface GenerationContract {
  /** The parameters as JSON Schema. The schema is published as `public_contract`. */
  readonly schema: TObject;
  /** The operations of a video model. The list is empty for other models. */
  readonly operations: readonly VideoOperation[];
  /** Rules that a schema cannot express, as text for people. */
  readonly rules: readonly string[];
  /**
   * Validates a body and returns it in canonical form. Aliases are resolved, defaults are filled
   * in, and parameters without effect are left out. Throws WeirError `invalid_request` or
   * `payload_too_large`.
   */
  accept(body: Body): GenerationInput;
}
