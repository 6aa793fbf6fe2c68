import { svgOf } from '../../web/charts/svg-text.ts';
import type { FoundMachine } from '../machines-page.ts';
import { stateDiagram } from '../state-diagram.ts';
import { chartOf } from './chart.ts';
import { layOut } from './lay-out.ts';
import { committedLayout } from './layouts.ts';
import { scxmlOf } from './scxml.ts';

/** One file of `docs/machines/`. */
export interface MachineFile {
  name: string;
  text: string;
}

/**
 * Returns the files of a machine: its definition in each format, and its chart.
 *
 * @param lay_out False takes the committed layout if it is still of this machine. Laying out takes about
 *   20 s.
 */
export async function machineFiles(
  { path, machine }: FoundMachine,
  { lay_out = false }: { lay_out?: boolean } = {},
): Promise<MachineFile[]> {
  const chart = chartOf(machine);
  const layout = (lay_out ? undefined : committedLayout(chart)) ?? (await layOut(chart));
  return [
    { name: `${machine.id}.json`, text: `${JSON.stringify(machine.config, null, 2)}\n` },
    { name: `${machine.id}.layout.json`, text: `${JSON.stringify(layout, null, 1)}\n` },
    { name: `${machine.id}.mmd`, text: `${stateDiagram(machine)}\n` },
    { name: `${machine.id}.scxml`, text: scxmlOf(machine, path) },
    { name: `${machine.id}.svg`, text: svgOf(layout) },
  ];
}
