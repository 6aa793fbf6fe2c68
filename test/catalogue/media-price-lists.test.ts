/**
 * Compares every price that is not of chat tokens with a price that a stranger published: LiteLLM's
 * list, or a page of a provider. The table has one cell for each model, operation and value of the
 * parameters that move prices. A difference, or a price that nobody lists, needs a reason.
 */
import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { type Cell, mediaCells } from './price-lists/media-cells.ts';
import { MEDIA_ROWS, NOT_PRICED } from './price-lists/media-rows.ts';
import { LITELLM, type Row, USED } from './price-lists/media-sources.ts';
import { VIDEO_ROWS } from './price-lists/video-rows.ts';

/** USD. Prices are whole nano-USD, or whole pico-USD for a million units. */
const SAME = 1e-10;

const ROWS: readonly Row[] = [...MEDIA_ROWS, ...VIDEO_ROWS];
const cells = mediaCells();
const nameOf = ({ model, operation, tier, unit }: Cell) =>
  [model, operation, tier, `per ${unit}`].filter((part) => part !== '').join(', ');

/** The parameters of a tier and their values. */
const parts = (tier: string) =>
  tier.split(' ').map((part): [string, string] => {
    const [name = '', value = ''] = part.split('=');
    return [name, value];
  });

/** True if the row names the cell's parameters, all of them, and has the cell's values. */
function fits([model, operations, tier, unit]: Row, cell: Cell): boolean {
  if (model !== cell.model || unit !== cell.unit || !operations.includes(cell.operation))
    return false;
  const wanted = new Map(parts(tier));
  const values = parts(cell.tier);
  return (
    wanted.size === values.length &&
    values.every(([name, value]) => wanted.get(name)?.split('|').includes(value) === true)
  );
}

const rowsOf = (cell: Cell) => ROWS.filter((row) => fits(row, cell));

test('every model that is not a chat model has cells', () => {
  const others = builtInModels().filter(({ category }) => category !== 'chat');
  expect(others.filter(({ id }) => !cells.some(({ model }) => model === id))).toEqual([]);
});

test('every cell has exactly one source or reason', () => {
  expect(cells.filter((cell) => rowsOf(cell).length !== 1).map(nameOf)).toEqual([]);
});

test('a new model, operation, parameter or value has none', () => {
  const changed = cells.flatMap((cell): Cell[] => [
    { ...cell, model: `${cell.model}-2` },
    { ...cell, operation: 'new' },
    { ...cell, tier: `${cell.tier} speed=fast`.trim() },
    { ...cell, tier: cell.tier.replace(/=[^ ]+/, '=new') || 'new=1' },
    { ...cell, unit: 'new' },
  ]);
  expect(changed.filter((cell) => rowsOf(cell).length > 0).map(nameOf)).toEqual([]);
});

test('every operation of every row has a cell', () => {
  const unused = ROWS.flatMap((row) =>
    row[1]
      .filter((operation) => !cells.some((cell) => cell.operation === operation && fits(row, cell)))
      .map((operation) => `${row[0]} ${operation} ${row[2]}`),
  );
  expect(unused).toEqual([]);
});

describe('the price', () => {
  const priced = cells.flatMap((cell) =>
    rowsOf(cell).flatMap(([, , , , source]) =>
      source.usd === undefined ? [] : [{ cell, source }],
    ),
  );

  test('is the public one', () => {
    const wrong = priced
      .filter(({ source }) => source.differs === undefined)
      .filter(({ cell, source }) => !(Math.abs(cell.usd - (source.usd ?? Number.NaN)) < SAME))
      .map(
        ({ cell, source }) => `${nameOf(cell)}: ${cell.usd}, not ${source.usd} (${source.from})`,
      );
    expect(wrong).toEqual([]);
  });

  test('differs where a reason says so', () => {
    const same = priced
      .filter(({ source }) => source.differs !== undefined)
      .filter(({ cell, source }) => !(Math.abs(cell.usd - (source.usd ?? Number.NaN)) >= SAME))
      .map(({ cell }) => nameOf(cell));
    expect(same).toEqual([]);
  });

  test('that was compared is not called unverified in the catalogue', () => {
    const equal = (model: string) =>
      ROWS.filter((row) => row[0] === model).every(
        ([, , , , source]) => source.usd !== undefined && source.differs === undefined,
      );
    const unverified = builtInModels()
      .filter(({ category, id }) => category !== 'chat' && equal(id))
      .filter(({ pricing_provenance }) => pricing_provenance?.note?.startsWith('unverified'));
    expect(unverified.map(({ id }) => id)).toEqual([]);
  });
});

test('every price of the rows of LiteLLM is compared, or has a reason', () => {
  const members = Object.entries(LITELLM).flatMap(([row, prices]) =>
    Object.keys(prices).map((member) => `${row} ${member}`),
  );
  expect(members.filter((name) => !USED.has(name) && !(name in NOT_PRICED))).toEqual([]);
  expect([...USED, ...Object.keys(NOT_PRICED)].filter((name) => !members.includes(name))).toEqual(
    [],
  );
  expect(Object.keys(NOT_PRICED).filter((name) => USED.has(name))).toEqual([]);
});
