import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { toDirectedGraph } from 'xstate/graph';

/** A named guard or action, parametrized or not. */
type Reference = string | { type: string; params?: object };

/** One possible outcome of one event in one state. */
export interface Outcome {
  event: string;
  /** Name of the guard; `else` if an earlier outcome of the same event has one; '' otherwise. */
  guard: string;
  /** The state that the event leads to; undefined if the state does not change. */
  target: AnyStateNode | undefined;
  actions: string[];
}

/** A state with the outcomes of its own events, and the states inside it. */
export interface StateRow {
  node: AnyStateNode;
  outcomes: Outcome[];
  children: StateRow[];
}

/** Reads a machine's states from XState's own directed graph of its definition. */
export function statesOf(machine: AnyStateMachine): StateRow {
  return rowOf(toDirectedGraph(machine));
}

type GraphNode = ReturnType<typeof toDirectedGraph>;

function rowOf({ stateNode: node, edges, children }: GraphNode): StateRow {
  const guarded = new Set<string>();
  const outcomes = edges.map(({ transition }) => outcomeOf(transition, guarded));
  return { node, outcomes, children: children.map(rowOf) };
}

function outcomeOf(transition: AnyTransitionDefinition, guarded: Set<string>): Outcome {
  const event = transition.eventType;
  const [target] = transition.target ?? [];
  const actions = (transition.actions as Reference[]).map(nameOf);
  if (!transition.guard) return { event, guard: guarded.has(event) ? 'else' : '', target, actions };
  guarded.add(event);
  return { event, guard: nameOf(transition.guard as Reference), target, actions };
}

/** The name of a guard or an action, with its parameters if it has any. */
export function nameOf(reference: Reference): string {
  if (typeof reference === 'string') return reference;
  const params = Object.values(reference.params ?? {});
  return params.length === 0 ? reference.type : `${reference.type}: ${params.join(', ')}`;
}

/** Path of a state inside its machine, such as `open.exact`. */
export const pathOf = (node: AnyStateNode) => node.path.join('.');

/** Mermaid needs ids without dots that are unique in the whole diagram. */
const idOf = (node: AnyStateNode) => node.path.join('_');

/**
 * The machine as a Mermaid `stateDiagram-v2`: states, first and final states, and one arrow for
 * each pair of states between which events lead. Events that change no state have no arrow.
 */
export function stateDiagram(machine: AnyStateMachine): string {
  const root = statesOf(machine);
  return [
    'stateDiagram-v2',
    '  direction LR',
    ...bodyOf(root, '  '),
    // Mermaid moves a state into the composite that mentions it first. So the arrows follow all declarations.
    ...arrowsOf(root).map((arrow) => `  ${arrow}`),
  ].join('\n');
}

/** Declares the states inside a state, with its first and final ones. */
function bodyOf(row: StateRow, indent: string): string[] {
  const declared = row.children.flatMap((child) => declarationOf(child, indent));
  const any = entersOwnChild(row) ? [`${indent}state "any state" as ${anyOf(row.node)}`] : [];
  const first = row.node.initial.target.map((node) => `${indent}[*] --> ${idOf(node)}`);
  const final = row.children
    .filter((child) => child.node.type === 'final')
    .map((child) => `${indent}${idOf(child.node)} --> [*]`);
  return [...declared, ...any, ...first, ...final];
}

function declarationOf(row: StateRow, indent: string): string[] {
  const head = `${indent}state "${row.node.key}" as ${idOf(row.node)}`;
  if (row.children.length === 0) return [head];
  return [`${head} {`, ...bodyOf(row, `${indent}  `), `${indent}}`];
}

/**
 * Id of the node that stands for all states of a composite. Mermaid cannot draw an arrow from a composite
 * to a state inside it.
 */
const anyOf = (node: AnyStateNode) => (node.path.length === 0 ? 'any' : `${idOf(node)}_any`);

/** True if a state is inside another one, at any depth. */
export const isInside = (node: AnyStateNode, outer: AnyStateNode) =>
  node !== outer && outer.path.every((key, index) => node.path[index] === key);

const entersOwnChild = (row: StateRow) =>
  row.outcomes.some(({ target }) => target !== undefined && isInside(target, row.node));

function arrowsOf(row: StateRow): string[] {
  const labels = new Map<string, string[]>();
  for (const outcome of row.outcomes) {
    if (outcome.target === undefined) continue;
    const inside = isInside(outcome.target, row.node);
    const source = inside ? anyOf(row.node) : idOf(row.node);
    const ends = `${source} --> ${idOf(outcome.target)}`;
    labels.set(ends, [...(labels.get(ends) ?? []), labelOf(outcome, inside ? row : undefined)]);
  }
  const own = [...labels].map(([ends, texts]) => `${ends}: ${texts.join('<br>')}`);
  return [...own, ...row.children.flatMap(arrowsOf)];
}

function labelOf(outcome: Outcome, all: StateRow | undefined): string {
  const overriding = all ? all.children.filter((child) => overrides(child, outcome.event)) : [];
  const except = overriding.map((child) => child.node.key).join(', ');
  const guard = outcome.guard === '' ? '' : ` [${outcome.guard}]`;
  return `${outcome.event}${guard}${except === '' ? '' : ` (not in ${except})`}`;
}

/** True if a state always handles an event, so that the outer state never receives it. */
export function overrides(row: StateRow, event: string): boolean {
  return row.outcomes.some((own) => own.event === event && ['', 'else'].includes(own.guard));
}
