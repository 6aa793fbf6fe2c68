/**
 * Requests that the documentation of providers, and the code of strangers, show: the simulator takes each, and
 * Weir sends the same method, path, members and values for a call of the same meaning.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { GenerationProtocolName } from '../../../../src/protocols/names.ts';
import { generationModel } from '../../../support/contracts.ts';
import { type OutgoingRecorder, startOutgoingRecorder } from '../../../support/outgoing.ts';
import { type RunningSimulator, startSimulator } from '../../../support/simulator.ts';
import { WITNESSES } from '../witnesses.ts';
import type { DocumentedRequest } from './request.ts';
import { OFFICIAL_REQUESTS } from './requests-official.ts';
import { UNOFFICIAL_REQUESTS } from './requests-unofficial.ts';

setDefaultTimeout(60_000);

const REQUESTS = [...OFFICIAL_REQUESTS, ...UNOFFICIAL_REQUESTS];

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

const KEY = 'sim-documented';
const bearer = { authorization: `Bearer ${KEY}` };
/** The provider's path in the simulator, and the headers of its documentation. */
const PROVIDERS: Record<GenerationProtocolName, { base: string; headers: object }> = {
  'openai-images': { base: '/openai/v1', headers: bearer },
  'azure-images': { base: '/azure', headers: { 'api-key': KEY } },
  gemini: { base: '/google/v1beta', headers: { 'x-goog-api-key': KEY } },
  veo: { base: '/google/v1beta', headers: { 'x-goog-api-key': KEY } },
  xai: { base: '/xai/v1', headers: bearer },
  stability: { base: '/stability', headers: { ...bearer, accept: 'application/json' } },
  ideogram: { base: '/ideogram', headers: { 'api-key': KEY } },
  bfl: { base: '/bfl/v1', headers: { 'x-key': KEY } },
  kling: { base: '/kling', headers: bearer },
  runway: { base: '/runway', headers: { ...bearer, 'x-runway-version': '2024-11-06' } },
  ark: { base: '/ark/api/v3', headers: bearer },
  midjourney: { base: '/midjourney/mj', headers: { 'mj-api-secret': KEY } },
  suno: { base: '/suno', headers: bearer },
  fal: { base: '/fal', headers: { authorization: `Key ${KEY}` } },
  replicate: { base: '/replicate/v1', headers: bearer },
};

/** The fields of a form: each text, and each file. */
const fieldsIn = (body: DocumentedRequest['body']) =>
  Object.entries(body).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, each instanceof Blob ? each : String(each)] as const),
  );

function formOf(body: DocumentedRequest['body']): FormData {
  const form = new FormData();
  for (const [name, value] of fieldsIn(body)) form.append(name, value);
  return form;
}

/** Returns the fields of a form as lists: the texts, and the sizes of the files. */
function fieldsOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown[]> {
  const fields: Record<string, unknown[]> = {};
  for (const [name, value] of entries) {
    const text = value instanceof Blob ? value.size : value;
    fields[name] = [...(fields[name] ?? []), text];
  }
  return fields;
}

const ROWS = REQUESTS.map((each) => [each.protocol, each.path, each.source, each] as const);

describe('the simulator takes the documented request', () => {
  test.each(ROWS)('%s %s (%s)', async (protocol, path, _, { body, form }) => {
    const { base, headers } = PROVIDERS[protocol];
    const response = await fetch(simulator.url + base + path, {
      ...{ method: 'POST', body: form ? formOf(body) : JSON.stringify(body) },
      headers: { ...headers, ...(form ? {} : { 'content-type': 'application/json' }) },
    });
    const answer = (await response.json()) as { code?: unknown };
    expect([200, 201, 202]).toContain(response.status);
    // Kling, Midjourney and Suno put a refusal into `code`.
    expect([undefined, 0, 1, 'success']).toContain(answer.code as undefined);
  });
});

/** Returns a value without these members, at any depth. */
function without(value: unknown, names: readonly string[] = []): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, each: unknown) => (names.includes(name) ? undefined : each)),
  );
}

/** The names of a model, which the catalogue's own model of the same provider replaces. */
const MODELS = ['model', 'model_name'];

describe('Weir sends the documented request', () => {
  const same = ROWS.flatMap(([protocol, path, source, each]) =>
    each.same ? [[protocol, path, source, each, each.same] as const] : [],
  );
  test.each(same)('%s %s (%s)', async (protocol, path, _, { body, form }, call) => {
    const input = generationModel(call.model).contract.accept({ ...call.call });
    const { requests, refusal } = await recorder.submit(protocol, call.model, input);
    expect(refusal).toBeUndefined();
    const [method, sent_path, ...text] = (requests[0] ?? '').split(' ');
    expect(`${method} ${sent_path}`).toBe(`POST ${path}`);
    const parsed: unknown = JSON.parse(text.join(' '));
    // The recorder lists the fields of a form.
    expect(Array.isArray(parsed)).toBe(form === true);
    const sent = form ? fieldsOf(parsed as [string, unknown][]) : parsed;
    const shown = form ? fieldsOf(fieldsIn(body)) : body;
    const { not_sent = [], more = [] } = call;
    expect(without(sent, [...MODELS, ...more])).toEqual(without(shown, [...MODELS, ...not_sent]));
  });
});

test('the table of witnesses has the number of requests of each protocol', () => {
  const counted = WITNESSES.map(({ protocol }) => ({
    protocol,
    requests: REQUESTS.filter((each) => each.protocol === protocol).length,
  }));
  expect(counted).toEqual(
    WITNESSES.map(({ protocol, payloads }) => ({ protocol, requests: payloads.requests })),
  );
});
