import type { FoundMachine } from '../machines-page.ts';
import { stateDiagram } from '../state-diagram.ts';
import { scxmlOf } from './scxml.ts';

/** One file of `docs/machines/`. */
export interface MachineFile {
  name: string;
  text: string;
}

/** Returns the files of a machine: its definition in each format. */
export function machineFiles({ path, machine }: FoundMachine): MachineFile[] {
  return [
    { name: `${machine.id}.json`, text: `${JSON.stringify(machine.config, null, 2)}\n` },
    { name: `${machine.id}.mmd`, text: `${stateDiagram(machine)}\n` },
    { name: `${machine.id}.scxml`, text: scxmlOf(machine, path) },
  ];
}
