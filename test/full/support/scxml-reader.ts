/** SCION, an SCXML interpreter that knows nothing of XState. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { InstalledProgram } from './installed.ts';

export const SCION = ['@scion-scxml/scxml', '4.3.27'] as const;

/** A running SCXML document. */
export interface ScxmlRun {
  /** Handles an event. Returns the ids of the innermost active states. */
  send(name: string, data: Record<string, boolean>): string[];
  /** The `log` elements since the last call, as `NAME` or `NAME: VALUE`. */
  takeLog(): string[];
  isFinal(): boolean;
}

/** The part of SCION that the tests use. */
interface Scion {
  documentStringToModel(url: string, text: string, done: Callback<Model>): void;
  core: { Statechart: new (model: unknown, options: object) => Statechart };
}
type Callback<Value> = (error: Error | null, value: Value) => void;
interface Model {
  prepare(done: Callback<unknown>, host: object): void;
}
interface Statechart {
  start(): string[];
  gen(event: { name: string; data: object }): string[];
  isFinal(): boolean;
}

/**
 * Reads a document and returns a function that starts it, again and again.
 *
 * @throws what SCION says if the document is not SCXML.
 */
export async function readScxml(
  { folder }: InstalledProgram,
  text: string,
): Promise<() => { states: string[]; run: ScxmlRun }> {
  const scion: Scion = createRequire(join(folder, 'package.json'))(SCION[0]);
  const model = await promised<Model>((done) =>
    scion.documentStringToModel('/machine.scxml', text, done),
  );
  const lines: string[] = [];
  const log = (label: string, value?: unknown) =>
    lines.push(value === undefined ? label : `${label}: ${JSON.stringify(value)}`);
  const console = { log, error: log, warn: log };
  const prepared = await promised<unknown>((done) => model.prepare(done, { console }));
  return () => {
    const chart = new scion.core.Statechart(prepared, { console });
    lines.length = 0;
    const states = chart.start();
    return {
      states,
      run: {
        send: (name, data) => chart.gen({ name, data }),
        takeLog: () => lines.splice(0),
        isFinal: () => chart.isFinal(),
      },
    };
  };
}

function promised<Value>(call: (done: Callback<Value>) => void): Promise<Value> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value)));
  });
}
