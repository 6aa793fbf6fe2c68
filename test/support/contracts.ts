/** Contracts of the built-in catalogue's models, for tables of rules. */
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue, type GenerationModel } from '../../src/catalogue/catalogue.ts';
import type { GenerationInput } from '../../src/catalogue/inputs.ts';
import type { ModelDeclaration } from '../../src/catalogue/schema.ts';
import { WeirError } from '../../src/errors/weir-error.ts';

const catalogue = new Catalogue(builtInModels());

/**
 * A row of a table of accepted bodies. It has the rule, the model, the body and the canonical
 * input.
 */
export type Accepted = readonly [rule: string, model: string, body: object, input: object];
/**
 * A row of a table of refused bodies. It has the rule, the model, the body and the parameter in the
 * error.
 */
export type Refused = readonly [rule: string, model: string, body: object, param: string];

export function generationModel(name: string, from: Catalogue = catalogue): GenerationModel {
  const model = from.find(name);
  if (model?.kind !== 'generation') throw new Error(`${name} is not a generation model`);
  return model;
}

/** A model of a family, as a configuration could declare it. */
export function declaredModel(declaration: Partial<ModelDeclaration>): GenerationModel {
  const model = { id: 'mine', owned_by: 'us', ...declaration } as ModelDeclaration;
  return generationModel('mine', new Catalogue([model]));
}

const PROMPT = { prompt: 'a lighthouse' };

/** The canonical input of a body. Adds a prompt if the body has none. */
export function accept(model: string | GenerationModel, body: object): GenerationInput {
  const found = typeof model === 'string' ? generationModel(model) : model;
  return found.contract.accept({ ...PROMPT, ...body });
}

/** The error for a body. @throws if the body is accepted. */
export function refusal(model: string | GenerationModel, body: object): WeirError {
  try {
    accept(model, body);
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(body)}`);
}
