import type { ConfiguredItem, ItemKind } from '../../db/configuration/items.ts';
import { GENERATION_SCENES } from '../catalogue/inputs.ts';
import type { ModelOverride } from '../catalogue/schema.ts';
import type { Installation } from './installation.ts';
import { overridden, overrideOf, rowKeyOf } from './model-layers.ts';

/** The rule for channels, models, prices, routing and presets alike. */
export const WINS_RULE =
  'weir.yaml wins over a row, and a row wins over the catalogue and the simulator, member by member.';

/** Where a value comes from. */
export type Layer = 'file' | 'row' | 'catalogue';

/** An item as it is used, and who declared it. */
export interface ItemView {
  readonly kind: ItemKind;
  readonly id: string;
  /** What is used now. */
  readonly value: object;
  /** The highest layer that a member comes from. */
  readonly source: Layer;
  /** The other layers that declare the item. */
  readonly over: readonly Layer[];
  /** The layer of each member. */
  readonly members: Readonly<Record<string, Layer>>;
  /** Why the row of an operator is not used; undefined if it is used, or if there is none. */
  readonly problem: string | undefined;
}

/** The members of a model that are items of their own. */
const PRICE_MEMBERS = ['price', 'pricing_provenance'];
const ROUTING_MEMBER = 'routing';

const NOT_DECLARED = { catalogue: [], row: [], file: [] };

/** The items of an installation. */
export class ItemViews {
  /** What each layer declares of a model, by its id. */
  private readonly byModel = new Map<string, Record<Layer, ModelOverride[]>>();
  private readonly rows: ReadonlySet<string>;

  constructor(private readonly installation: Installation) {
    const { built_in, overrides, yaml, items } = installation.layers;
    this.rows = new Set(items.map(rowKeyOf));
    const layers = { catalogue: built_in, row: overrides, file: yaml.models };
    for (const layer of ['catalogue', 'row', 'file'] as const) {
      const models: readonly ModelOverride[] = layers[layer];
      for (const model of models) {
        const declared = this.byModel.get(model.id) ?? { catalogue: [], row: [], file: [] };
        declared[layer].push(model);
        this.byModel.set(model.id, declared);
      }
    }
  }

  /** Returns the ids of all items of a kind: of each model, or of each scene. */
  names(kind: ItemKind): string[] {
    if (kind === 'preset') return [...GENERATION_SCENES];
    // A row that does not fit may be all that there is of a model.
    const rows = this.installation.layers.items.filter((item) => item.kind === kind);
    return [...new Set([...this.byModel.keys(), ...rows.map(({ id }) => id)])];
  }

  /** Returns an item as it is used; undefined if there is none with this id. */
  find(kind: ItemKind, id: string): ItemView | undefined {
    if (kind === 'preset') {
      return this.names(kind).includes(id) ? viewPreset(this.installation, id) : undefined;
    }
    const none = this.rows.has(rowKeyOf({ kind, id })) ? NOT_DECLARED : undefined;
    const declared = this.byModel.get(id) ?? none;
    return declared && this.viewModel(kind, id, declared);
  }

  private viewModel(
    kind: ItemKind,
    id: string,
    { catalogue, row, file }: Record<Layer, readonly ModelOverride[]>,
  ): ItemView {
    const [first = { id }, ...more] = [...catalogue, ...row, ...file];
    const merged = more.reduce<ModelOverride>(overridden, first);
    const names = Object.keys(merged).filter((name) => belongs(kind, name));
    const has = (overrides: readonly ModelOverride[], name: string) =>
      overrides.some((each) => Object.hasOwn(each, name));
    const layerOf = (name: string): Layer =>
      has(file, name) ? 'file' : has(row, name) ? 'row' : 'catalogue';
    const members = Object.fromEntries(names.map((name) => [name, layerOf(name)]));
    const declares = (overrides: readonly ModelOverride[]) =>
      overrides.some((each) => Object.keys(each).some((name) => belongs(kind, name)));
    const hasRow = this.rows.has(rowKeyOf({ kind, id })) || declares(row);
    const declaring: Layer[] = [
      ...(declares(file) ? (['file'] as const) : []),
      ...(hasRow ? (['row'] as const) : []),
      ...(declares(catalogue) || kind === 'routing' ? (['catalogue'] as const) : []),
    ];
    const source = highest(Object.values(members));
    const shown = Object.entries(merged).filter(([name]) => belongs(kind, name));
    const value = kind === 'routing' ? (merged.routing ?? {}) : Object.fromEntries(shown);
    return {
      ...{ kind, id, value, source, members },
      over: declaring.filter((layer) => layer !== source),
      problem: problemOf(this.installation.layers, { kind, id }),
    };
  }
}

function viewPreset({ layers, catalogue }: Installation, id: string): ItemView {
  const scene = GENERATION_SCENES.find((each) => each === id) ?? 'image';
  const problem = problemOf(layers, { kind: 'preset', id });
  const isInFile = layers.yaml.default_models[scene] !== undefined;
  const hasRow = layers.items.some((item) => item.kind === 'preset' && item.id === id);
  const source = isInFile ? 'file' : hasRow && problem === undefined ? 'row' : 'catalogue';
  const declaring: Layer[] = [
    ...(isInFile ? (['file'] as const) : []),
    ...(hasRow ? (['row'] as const) : []),
    'catalogue',
  ];
  return {
    ...{ kind: 'preset', id, value: { model: catalogue.defaults[scene] ?? null }, source, problem },
    ...{ over: declaring.filter((layer) => layer !== source), members: { model: source } },
  };
}

/** True if a member of a model belongs to the item of this kind. */
function belongs(kind: ItemKind, name: string): boolean {
  if (kind === 'price') return PRICE_MEMBERS.includes(name);
  if (kind === 'routing') return name === ROUTING_MEMBER;
  return name !== 'id' && name !== ROUTING_MEMBER && !PRICE_MEMBERS.includes(name);
}

function highest(layers: readonly Layer[]): Layer {
  if (layers.includes('file')) return 'file';
  return layers.includes('row') ? 'row' : 'catalogue';
}

function problemOf(
  { problems }: Installation['layers'],
  item: Pick<ConfiguredItem, 'kind' | 'id'>,
): string | undefined {
  const problem = problems.get(rowKeyOf(item));
  return problem && `${problem.param} ${problem.message}`.trim();
}

/**
 * Returns the members of a row that `weir.yaml` declares, so that the row would change nothing. A price
 * and a routing are one member each.
 */
export function declaredInFile({ layers }: Installation, item: ConfiguredItem): string[] {
  if (item.kind === 'preset') {
    const declared: Readonly<Record<string, unknown>> = layers.yaml.default_models;
    return declared[item.id] === undefined ? [] : ['model'];
  }
  const override = overrideOf(item) ?? {};
  const file = layers.yaml.models.filter(({ id }) => id === item.id);
  return Object.keys(override).filter(
    (name) => name !== 'id' && file.some((each) => Object.hasOwn(each, name)),
  );
}
