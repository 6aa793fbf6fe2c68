import { type Static, Type } from '@sinclair/typebox';
import type { WhenReached } from '../../../db/when-reached.ts';
import { type Catalogue, type CatalogueModel, isAllowed } from '../../catalogue/catalogue.ts';
import { costsLess, isSameKind } from '../../catalogue/cheaper.ts';
import { WeirError } from '../../errors/weir-error.ts';

const MAX_MODEL_CHARS = 200;

/** The member `when_reached` of budgets and of limits of keys. */
export const WHEN_REACHED = Type.Optional(
  Type.Union(
    [
      Type.Literal('refuse'),
      Type.Literal('warn'),
      Type.Object(
        {
          move_to: Type.String({
            ...{ minLength: 1, maxLength: MAX_MODEL_CHARS, pattern: '^[^\\u0000]*$' },
            errorMessage: 'must be a model id',
          }),
        },
        { additionalProperties: false },
      ),
    ],
    { errorMessage: 'must be refuse, warn or {"move_to": a model id}' },
  ),
);

/** What the model that calls move to must fit. */
export interface MoveRules {
  readonly catalogue: Catalogue;
  /** True if a channel or an own key of the organization serves the model. */
  readonly isServed: (model: CatalogueModel) => boolean;
  /** The models that the key may call; empty means all. */
  readonly models?: readonly string[] | undefined;
  /** The model whose calls move; undefined for all models. */
  readonly from?: CatalogueModel | undefined;
  /** The member that has the choice, e.g. `limits.0.when_reached`. */
  readonly param: string;
}

/**
 * Returns the choice as it is stored, with the id of the named model. Throws WeirError if calls cannot move to
 * that model.
 */
export function storedChoice(
  chosen: Static<typeof WHEN_REACHED> = 'refuse',
  { catalogue, isServed, models = [], from, param }: MoveRules,
): WhenReached {
  if (typeof chosen === 'string') return chosen;
  const refuse = (message: string, hint: string) =>
    new WeirError('invalid_request', message, { param: `${param}.move_to`, hint });
  const model = catalogue.find(chosen.move_to);
  if (!model) {
    throw refuse(
      'The model to which calls move does not exist.',
      'GET /v1/models lists the models.',
    );
  }
  if (!isServed(model)) {
    throw refuse(
      `No channel serves ${model.id}.`,
      'Name a model that GET /v1/management/models shows as available.',
    );
  }
  if (!isAllowed(models, model)) {
    throw refuse(
      `This API key may not use ${model.id}.`,
      'Add the model to the models of the key.',
    );
  }
  if (from && !isSameKind(model, from)) {
    throw refuse(`${model.id} cannot serve calls of ${from.id}.`, 'Name a model of the same kind.');
  }
  if (from && !costsLess(model, from)) {
    throw refuse(`${model.id} does not cost less than ${from.id}.`, 'Name a cheaper model.');
  }
  return { move_to: model.id };
}
