import { MACHINES } from '../../replay/machines.ts';
import type { VersionedMachine } from '../../replay/versioned.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InspectScope } from './scope.ts';

/** `GET …/inspect/machines`: the machine of each kind of actor, with its earlier versions, as plain JSON. */
export function listMachines(scope: InspectScope): Handler {
  return async (context) => {
    const viewer = await scope.admit(context);
    const data = viewer.kinds.flatMap((kind) => {
      const machine = MACHINES[kind];
      if (!machine) return [];
      return [machine, ...(machine.earlier ?? [])].map((each) => ({
        ...{ object: 'machine', kind, version: each.version, is_current: each === machine },
        definition: definitionOf(each),
      }));
    });
    return json({ object: 'list', data, has_more: false });
  };
}

/** The configuration of a machine. It has names of guards and actions, and no functions. */
function definitionOf({ machine }: VersionedMachine): object {
  return machine.config as object;
}
