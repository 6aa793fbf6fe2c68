import type { Static, TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { closest } from 'fastest-levenshtein';
import { WeirError } from '../errors/weir-error.ts';

/** Checks a value; throws WeirError `invalid_request` that names the first offending parameter. */
export type Validator<Schema extends TSchema> = (value: Record<string, unknown>) => Static<Schema>;

/** Compiles a schema once. A schema's own `errorMessage` is preferred to the library's words. */
export function validator<Schema extends TSchema>(schema: Schema): Validator<Schema> {
  const compiled = TypeCompiler.Compile(schema);
  return (value) => {
    if (compiled.Check(value)) return value as Static<Schema>;
    const error = compiled.Errors(value).First();
    const param = error ? error.path.slice(1).replaceAll('/', '.').replaceAll('~1', '/') : 'body';
    if (error && error.message === 'Unexpected property') throw unknownField(param, schema);
    const own = error?.schema['errorMessage'];
    const missing = error !== undefined && error.value === undefined;
    const message = missing
      ? `${param} is required.`
      : `${param}: ${typeof own === 'string' ? own : (error?.message ?? 'not valid')}.`;
    throw new WeirError('invalid_request', message, { param });
  };
}

function unknownField(param: string, schema: TSchema): WeirError {
  const known = Object.keys(schema['properties'] ?? {});
  const meant = known.length > 0 ? closest(param, known) : undefined;
  return new WeirError('invalid_request', `${param} is not a field of this request.`, {
    param,
    ...(meant ? { hint: `Did you mean ${meant}?` } : {}),
  });
}
