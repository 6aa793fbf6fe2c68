/**
 * The providers' own SDKs, and the AI SDK's packages for providers, create generations at the simulator:
 * it answers as these packages expect. Where the AI SDK builds the request itself, Weir's request for the
 * same call has the same path and the same body, but for the members that a row names.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { GenerationProtocolName } from '../../../src/protocols/names.ts';
import { GENERATION_PROTOCOLS } from '../../../src/upstreams/generation/protocols.ts';
import { generationModel } from '../../support/contracts.ts';
import { type OutgoingRecorder, startOutgoingRecorder } from '../../support/outgoing.ts';
import { recordedFetch } from '../../support/recorded-fetch.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { IMAGE_ROWS } from './sdk-images.ts';
import type { Row } from './sdk-row.ts';
import { VIDEO_ROWS } from './sdk-videos.ts';
import { WITNESSES } from './witnesses.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
let recorder: OutgoingRecorder;
beforeAll(async () => {
  simulator = await startSimulator();
  recorder = startOutgoingRecorder();
});
afterAll(async () => {
  await recorder.stop();
  await simulator.stop();
});

const ROWS = [...IMAGE_ROWS, ...VIDEO_ROWS];

async function run(row: Row) {
  const url = simulator.url + row.path;
  const recorded = recordedFetch(url, row.hosts);
  const key = `sim-witness-${row.name.replace(/\W+/g, '-')}`;
  const results = await row.run({ url, key, fetch: recorded.fetch });
  return { results, submissions: recorded.submissions };
}

describe('the simulator answers as the package expects', () => {
  test.each(ROWS.map((row) => [row.name, row] as const))('%s', async (_, row) => {
    const { results } = await run(row);
    expect(results.length).toBeGreaterThan(0);
    for (const result of results) expect(result.length).toBeGreaterThan(20);
  });
});

describe('Weir sends the same request as the package', () => {
  const rows = ROWS.flatMap((row) => (row.same ? [[row.name, row, row.same] as const] : []));
  test.each(rows)('%s', async (_, row, { model, body, only_sdk = [], only_weir = [] }) => {
    const [first] = (await run(row)).submissions;
    const input = generationModel(model).contract.accept({ ...body });
    const { requests } = await recorder.submit(row.protocol, model, input);
    const [method, path, ...text] = (requests[0] ?? '').split(' ');
    expect({ method, path }).toEqual({ method: first?.method, path: first?.path });
    expect(without(JSON.parse(text.join(' ')), only_weir)).toEqual(without(first?.body, only_sdk));
  });
});

test('the table of witnesses has these numbers, and every protocol', () => {
  const counted = WITNESSES.map(({ protocol }) => {
    const rows = ROWS.filter((row) => row.protocol === protocol);
    return { protocol, same: rows.filter(({ same }) => same).length, simulator: rows.length };
  });
  expect(counted).toEqual(
    WITNESSES.map(({ protocol, payloads: { same, simulator: calls } }) => ({
      ...{ protocol, same, simulator: calls },
    })),
  );
  expect(WITNESSES.map(({ protocol }) => protocol).toSorted()).toEqual(
    (Object.keys(GENERATION_PROTOCOLS) as GenerationProtocolName[]).toSorted(),
  );
});

/** Returns a value without these members, at any depth. */
function without(value: unknown, names: readonly string[]): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, each: unknown) => (names.includes(name) ? undefined : each)),
  );
}
