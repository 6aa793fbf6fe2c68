import { join, resolve } from 'node:path';
import { type AnyStateMachine, StateMachine } from 'xstate';
import {
  nameOf,
  type Outcome,
  pathOf,
  type StateRow,
  stateDiagram,
  statesOf,
} from './state-diagram.ts';

const ROOT = resolve(import.meta.dir, '..');

export interface FoundMachine {
  /** Path of the file below the project's root. */
  path: string;
  machine: AnyStateMachine;
}

/** All current machines of `src/machines`, sorted by id. */
export async function findMachines(): Promise<FoundMachine[]> {
  const found: FoundMachine[] = [];
  for (const path of new Bun.Glob('src/machines/*.ts').scanSync({ cwd: ROOT })) {
    const exported: Record<string, unknown> = await import(join(ROOT, path));
    for (const value of Object.values(exported)) {
      if (value instanceof StateMachine) found.push({ path, machine: value });
    }
  }
  return found.sort((a, b) => a.machine.id.localeCompare(b.machine.id));
}

/** The text of `docs/machines.md`: each machine as a diagram and as a table. */
export async function machinesPage(): Promise<string> {
  return [INTRODUCTION, ...(await findMachines()).map(section)].join('\n');
}

const DIAGRAM = /(<!-- machine: (\w+) -->\n)[\s\S]*?(<!-- \/machine -->)/g;

/**
 * Returns the text of a page with the present diagrams. A diagram stands between the comments
 * `<!-- machine: ID -->` and `<!-- /machine -->`. Throws if there is no such machine.
 */
export async function withDiagrams(page: string): Promise<string> {
  const machines = new Map((await findMachines()).map(({ machine }) => [machine.id, machine]));
  return page.replace(DIAGRAM, (_, begin: string, id: string, end: string) => {
    const machine = machines.get(id);
    if (!machine) throw new Error(`there is no machine ${id}`);
    return `${begin}\n${diagramOf(machine)}\n\n${end}`;
  });
}

const INTRODUCTION = `# State machines

Printed from [src/machines](../src/machines/) by \`bin/machines\`; a test compares this page with the code.
The same program writes each machine as [files](machines/) for other tools:

| file | for |
|---|---|
| JSON | the definition as XState and Stately Studio read it; guards and actions are names |
| Mermaid | diagrams in Markdown |
| SVG | the chart that this page shows; it follows the reader's light or dark theme |
| layout.json | the places of the chart's boxes, lines and labels, for programs that draw it with live states |
| SCXML | statechart tools that read the W3C's format. A guard holds if the event's data has a member of its name that is \`true\`. An action is a \`log\` element with its name. |

A machine's own file opens in Stately Studio and in its editor extension as it is.

How to read the charts:

- An arrow is labelled \`EVENT [guard]\`. Guards of the same event stand below it, in the order in which they are
  tried. \`else\` applies if all of them fail.
- "any state" stands for all states inside the same frame.
- The lines in a box are what happens without leaving the state: \`entry\`, \`exit\`, and events that change no
  state, each with its actions.
- A dot leads to the first state. A double frame ends the machine.
- If a state does not list an event, or all its guards fail, the state around it handles the event.
  If no state handles it, nothing happens.
`;

function section({ path, machine }: FoundMachine): string {
  return `## ${machine.id}

[${path}](../${path}). The same machine as a file: ${filesOf(machine)}.

![The chart of the machine ${machine.id}](machines/${machine.id}.svg)

| state | what it is |
|---|---|
${meaningsOf(statesOf(machine)).join('\n')}

| state | event | guard | next state | actions |
|---|---|---|---|---|
${tableOf(statesOf(machine)).join('\n')}
`;
}

/** Links to the files of a machine that `bin/machines` writes. */
function filesOf({ id }: AnyStateMachine): string {
  const formats = { json: 'JSON', mmd: 'Mermaid', scxml: 'SCXML', svg: 'SVG' };
  return Object.entries(formats)
    .map(([ending, name]) => `[${name}](machines/${id}.${ending})`)
    .join(', ');
}

function meaningsOf({ node, children }: StateRow): string[] {
  const { description } = node;
  const own = description === undefined ? [] : [`| ${code(pathOf(node))} | ${description} |`];
  return [...own, ...children.flatMap(meaningsOf)];
}

function diagramOf(machine: AnyStateMachine): string {
  return `\`\`\`mermaid\n${stateDiagram(machine)}\n\`\`\``;
}

function tableOf(row: StateRow): string[] {
  const { node } = row;
  const name = node.path.length === 0 ? 'any state' : code(pathOf(node));
  const final = node.type === 'final' ? [`| ${name} | final | | | |`] : [];
  const always = (['entry', 'exit'] as const).flatMap((when) => {
    const actions = (node[when] as Parameters<typeof nameOf>[0][]).map(nameOf);
    return actions.length === 0 ? [] : [`| ${name} | *${when}* | | | ${codes(actions)} |`];
  });
  const own = row.outcomes.map((outcome) => `| ${name} | ${cellsOf(outcome)} |`);
  return [...final, ...always, ...own, ...row.children.flatMap(tableOf)];
}

function cellsOf({ event, guard, target, actions }: Outcome): string {
  const named_guard = guard === '' || guard === 'else' ? guard : code(guard);
  const next = target === undefined ? '' : code(pathOf(target));
  const effect = target === undefined && actions.length === 0 ? 'ignored' : codes(actions);
  return [code(event), named_guard, next, effect].join(' | ');
}

const code = (text: string) => `\`${text}\``;
const codes = (texts: string[]) => texts.map(code).join(', ');
