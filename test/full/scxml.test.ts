/**
 * The SCXML of `docs/machines` in another project's interpreter. It must reach the same states by the same
 * actions as XState, which runs the JSON of the same folder and the machine itself.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  createMachine,
  initialTransition,
  transition,
} from 'xstate';
import { type FoundMachine, findMachines } from '../../docs/machines-page.ts';
import { statePath } from '../../src/replay/step.ts';
import { ROOT } from '../house/sources.ts';
import {
  BATCH_EVENTS,
  CHANNEL_EVENTS,
  QUOTA_EVENTS,
  TASK_EVENTS,
  WEBHOOK_EVENTS,
} from '../machines/events.ts';
import { fc } from '../support/property.ts';
import { npmProgram, withPrograms } from './support/installed.ts';
import { readScxml, SCION } from './support/scxml-reader.ts';

setDefaultTimeout(120_000);

const installed = await npmProgram(...SCION);
const machines = (await findMachines()).map((found) => ({ id: found.machine.id, ...found }));
const fileOf = (name: string) => readFileSync(join(ROOT, 'docs/machines', name), 'utf8');

const EVENTS: Readonly<Record<string, readonly AnyEventObject[]>> = {
  batch: BATCH_EVENTS,
  channel: CHANNEL_EVENTS,
  quota: QUOTA_EVENTS,
  task: TASK_EVENTS,
  webhook: WEBHOOK_EVENTS,
};

/** The machine that XState makes of the JSON. Its guards are in the events, and its actions only log. */
function machineOfJson({ machine }: FoundMachine, log: string[]): AnyStateMachine {
  const guards = Object.keys(machine.implementations.guards);
  const actions = Object.keys(machine.implementations.actions);
  return createMachine(JSON.parse(fileOf(`${machine.id}.json`))).provide({
    guards: Object.fromEntries(guards.map((name) => [name, ({ event }) => event[name] === true])),
    actions: Object.fromEntries(
      actions.map((name) => [
        name,
        (_: unknown, params: unknown) => {
          const values = Object.keys(params ?? {}).length > 0;
          log.push(values ? `${name}: ${JSON.stringify(params)}` : name);
        },
      ]),
    ),
  });
}

/** Which guards hold for an event, by the machine's own functions. */
function guardsOf(
  machine: AnyStateMachine,
  { context }: AnyMachineSnapshot,
  event: AnyEventObject,
) {
  type Guard = (args: { context: unknown; event: AnyEventObject }) => boolean;
  return Object.fromEntries(
    Object.entries(machine.implementations.guards).map(([name, guard]) => [
      name,
      (guard as unknown as Guard)({ context, event }),
    ]),
  );
}

withPrograms([installed], (program) => {
  describe.each(machines)('SCION runs $id', (found) => {
    const { id, machine } = found;

    test('and takes each transition as XState does with the JSON', async () => {
      const start = await readScxml(program, fileOf(`${id}.scxml`));
      const log: string[] = [];
      const of_json = machineOfJson(found, log);
      const names = [...new Set(machine.events as string[])];
      const guards = Object.keys(machine.implementations.guards);
      // One guard holds, or none: together they take each outcome of each event.
      const choices = [{}, ...guards.map((name) => ({ [name]: true }))];
      const steps = names.flatMap((type) => choices.map((data) => ({ type, data })));
      const paths: (typeof steps)[] = [[]];
      const known = new Set<string>();
      let transitions = 0;
      for (const path of paths) {
        for (const step of [undefined, ...steps]) {
          const actor = createActor(of_json);
          log.length = 0;
          actor.start();
          const { states, run } = start();
          let reached = states;
          for (const { type, data } of step ? [...path, step] : path) {
            actor.send({ type, ...data });
            reached = run.send(type, data);
          }
          const state = statePath(actor.getSnapshot());
          expect(reached).toEqual([state]);
          expect(run.takeLog()).toEqual(log);
          expect(run.isFinal()).toBe(actor.getSnapshot().status === 'done');
          transitions++;
          if (known.has(state)) continue;
          known.add(state);
          if (step) paths.push([...path, step]);
        }
      }
      const leaves = Object.values(machine.states).flatMap(function all(node): string[] {
        const inner = Object.values(node.states);
        return inner.length === 0 ? [node.path.join('.')] : inner.flatMap(all);
      });
      expect([...known].sort()).toEqual(leaves.sort());
      console.log(`${id}: ${known.size} states, ${transitions} sequences of events`);
    });

    test('and ends in the state of the machine itself', async () => {
      const start = await readScxml(program, fileOf(`${id}.scxml`));
      const events = fc.array(fc.constantFrom(...(EVENTS[id] ?? [])), { maxLength: 40 });
      fc.assert(
        fc.property(events, (sent) => {
          let [snapshot] = initialTransition(machine);
          const { states, run } = start();
          let reached = states;
          for (const event of sent) {
            if (snapshot.status === 'done') break;
            reached = run.send(event.type, guardsOf(machine, snapshot, event));
            [snapshot] = transition(machine, snapshot, event);
            expect(reached).toEqual([statePath(snapshot)]);
          }
        }),
        { numRuns: 100 },
      );
    });
  });

  test('an error in a document is found', async () => {
    const broken = fileOf('batch.scxml').replace('target="in_progress"', 'target="nowhere"');
    const start = readScxml(program, broken).then((begin) => begin().run.send('OPENED', {}));
    await expect(start).rejects.toThrow();
  });
});
