import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import chat from '../../catalogue/chat.json' with { type: 'json' };
import { type ModelDeclaration, ModelSchema } from './schema.ts';

/** The models that Weir knows by itself. Throws if a reviewed file broke its schema. */
export function builtInModels(): ModelDeclaration[] {
  return Value.Decode(Type.Array(ModelSchema), chat);
}
