import { withoutUndefined } from '../../json/object.ts';
import type { JsonObject } from './exchange.ts';

/**
 * A member of a provider's request, and the members of the input from which its value comes. A list of
 * fields gives both the body of a request and the members of the input that the request contains.
 */
export interface Field<Input> {
  readonly to: string;
  readonly from: readonly (keyof Input & string)[];
  readonly value: (input: Input) => unknown;
}

/** Returns a field with the value of the first of these members that the input has. */
export function field<Input>(to: string, ...from: readonly (keyof Input & string)[]): Field<Input> {
  return {
    ...{ to, from },
    value: (input) => from.map((name) => input[name]).find((value) => value !== undefined),
  };
}

/** Returns the body with these fields. A field without a value is left out. */
export function bodyOf<Input>(fields: readonly Field<Input>[], input: Input): JsonObject {
  return withoutUndefined(Object.fromEntries(fields.map(({ to, value }) => [to, value(input)])));
}

/** Returns the members of the input that the fields contain. */
export function membersOf<Input>(fields: readonly Field<Input>[]): string[] {
  return fields.flatMap(({ from }) => from);
}
