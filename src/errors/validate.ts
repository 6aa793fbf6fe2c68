import type { Static, TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { closestName } from './closest-name.ts';
import { explainMismatch } from './mismatch.ts';
import { WeirError } from './weir-error.ts';

/**
 * Returns the value itself if it fits the schema. Otherwise throws WeirError `invalid_request` that
 * names the first wrong parameter.
 */
export type Validator<Schema extends TSchema> = (value: Record<string, unknown>) => Static<Schema>;

const MAX_QUOTED_CHARS = 100;

/**
 * Compiles a schema into a validator. The validator does not change the value: it removes, adds and
 * converts nothing.
 */
export function validator<Schema extends TSchema>(schema: Schema): Validator<Schema> {
  const compiled = TypeCompiler.Compile(schema);
  return (value) => {
    if (compiled.Check(value)) return value as Static<Schema>;
    const error = compiled.Errors(value).First();
    if (!error) throw new WeirError('invalid_request', 'The body is not valid.', { param: 'body' });
    const { pointer, message, kind, known } = explainMismatch(error);
    const param = dotted(pointer);
    const subject = param.slice(0, MAX_QUOTED_CHARS);
    if (kind !== 'unknown') {
      throw new WeirError('invalid_request', `${subject} ${message}.`, { param });
    }
    const meant = closestName(param, known);
    throw new WeirError('invalid_request', `${subject} is not a field of this request.`, {
      param,
      ...(meant ? { hint: `Did you mean ${meant}?` } : {}),
    });
  };
}

/** Returns a JSON pointer as a dotted path: `/messages/0/role` → `messages.0.role`. */
function dotted(pointer: string): string {
  if (pointer === '') return 'body';
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
}
