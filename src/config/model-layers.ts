import { Value } from '@sinclair/typebox/value';
import type { ConfiguredItem } from '../../db/configuration/items.ts';
import {
  type ModelDeclaration,
  type ModelOverride,
  ModelOverrideSchema,
} from '../catalogue/schema.ts';
import { explainMismatch } from '../errors/mismatch.ts';
import { findModelContradictions } from './model-contradictions.ts';
import { stepsOf } from './yaml-source.ts';

/** Why a row of an operator is not used, and which member is wrong. */
export interface RowProblem {
  readonly param: string;
  readonly message: string;
}

/** The rows of operators over the catalogue, below `weir.yaml`. */
export interface RowLayer {
  /** The rows of models, prices and routing that are used, in the order in which they apply. */
  readonly overrides: readonly ModelOverride[];
  /** Why other rows are not used, by `rowKeyOf`. */
  readonly problems: ReadonlyMap<string, RowProblem>;
}

/** In this order the rows of one model apply: the later one wins. */
const ORDER = ['model', 'price', 'routing'] as const;

/** The name of a row in maps. */
export const rowKeyOf = ({ kind, id }: Pick<ConfiguredItem, 'kind' | 'id'>): string =>
  `${kind} ${id}`;

/** Returns what a row changes of its model; undefined for a row about no model. */
export function overrideOf({ kind, id, value }: ConfiguredItem): ModelOverride | undefined {
  if (kind === 'preset') return undefined;
  const members = kind === 'routing' ? { routing: value } : value;
  return { ...members, id } as ModelOverride;
}

/**
 * Returns a declaration with an override. The source of a price does not apply to another price.
 */
export function overridden(declared: ModelOverride, override: ModelOverride): ModelOverride {
  const { pricing_provenance, ...rest } = declared;
  const provenance = override.price || !pricing_provenance ? {} : { pricing_provenance };
  return { ...rest, ...provenance, ...override };
}

/**
 * Returns the rows that fit the catalogue and `weir.yaml`. A row that fitted once may not fit a later
 * file or version. Then it is left out, because no row may stop a replica.
 */
export function rowLayerOf(
  items: readonly ConfiguredItem[],
  file: readonly ModelOverride[],
  known: readonly ModelDeclaration[],
): RowLayer {
  const problems = new Map<string, RowProblem>();
  const overrides: ModelOverride[] = [];
  for (const [id, rows] of rowsByModel(items)) {
    const above = file.filter((each) => each.id === id);
    const isFit = (chosen: readonly ConfiguredItem[]) =>
      problemsOf([...chosen.flatMap((row) => overrideOf(row) ?? []), ...above], known);
    const [problem] = isFit(rows);
    // If they do not fit together, as many as fit are used.
    const used: ConfiguredItem[] = problem ? [] : [...rows];
    for (const row of problem ? rows : []) {
      const [own] = isFit([...used, row]);
      if (own) problems.set(rowKeyOf(row), own);
      else used.push(row);
    }
    overrides.push(...used.flatMap((row) => overrideOf(row) ?? []));
  }
  return { overrides, problems };
}

function rowsByModel(items: readonly ConfiguredItem[]): Map<string, ConfiguredItem[]> {
  const byModel = new Map<string, ConfiguredItem[]>();
  for (const kind of ORDER) {
    for (const item of items.filter((each) => each.kind === kind)) {
      byModel.set(item.id, [...(byModel.get(item.id) ?? []), item]);
    }
  }
  return byModel;
}

/** Returns what is wrong with a model after these overrides, which are all of one model. */
function problemsOf(
  overrides: readonly ModelOverride[],
  known: readonly ModelDeclaration[],
): RowProblem[] {
  const [first, ...more] = overrides;
  if (!first) return [];
  const merged = more.reduce(overridden, first);
  const found: RowProblem[] = [];
  for (const error of Value.Errors(ModelOverrideSchema, merged)) {
    const { pointer, message } = explainMismatch(error);
    found.push({ param: stepsOf(pointer).join('.'), message });
  }
  if (found.length > 0) return found;
  findModelContradictions([merged], known, (pointer, message) => {
    // The pointer begins with the list and the number of the model.
    found.push({ param: stepsOf(pointer).slice(2).join('.'), message });
  });
  return found;
}
