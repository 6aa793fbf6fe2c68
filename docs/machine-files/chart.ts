import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { ChartBoxKind, ChartEvent, ChartNote } from '../../web/charts/layout.ts';
import { isInside, nameOf, overrides, pathOf, type StateRow, statesOf } from '../state-diagram.ts';

/** A machine's chart before it is laid out. */
export interface Chart {
  machine: string;
  boxes: ChartNode[];
  arrows: ChartEdge[];
}

/** A box with the boxes inside it. */
export interface ChartNode {
  id: string;
  kind: ChartBoxKind;
  title: string;
  description?: string;
  notes: ChartNote[];
  children: ChartNode[];
}

/** All transitions from one box to another. A start dot's arrow has no events. */
interface ChartEdge {
  source: string;
  target: string;
  events: ChartEvent[];
}

/** Returns what a machine's chart shows. Each transition is one event of an arrow, or one note of a box. */
export function chartOf(machine: AnyStateMachine): Chart {
  const root = statesOf(machine);
  return { machine: machine.id, boxes: innerBoxes(root), arrows: arrowsOf(root) };
}

const startOf = (node: AnyStateNode) => `${pathOf(node)}#start`;
const anyOf = (node: AnyStateNode) => `${pathOf(node)}#any`;

/** The boxes inside a state. Transitions of the state itself start at a box "any state" among them. */
function innerBoxes(row: StateRow): ChartNode[] {
  if (row.children.length === 0) return [];
  const dot: ChartNode = {
    id: startOf(row.node),
    kind: 'start',
    title: '',
    notes: [],
    children: [],
  };
  const notes = row.node.path.length === 0 ? notesOf(row) : [];
  const any: ChartNode = {
    id: anyOf(row.node),
    kind: 'any',
    title: 'any state',
    notes,
    children: [],
  };
  const needs_any =
    notes.length > 0 || row.outcomes.some(({ target }) => entersInside(row, target));
  return [dot, ...(needs_any ? [any] : []), ...row.children.map(boxOf)];
}

function boxOf(row: StateRow): ChartNode {
  const { node } = row;
  const kind = node.type === 'final' ? 'final' : row.children.length > 0 ? 'group' : 'state';
  return {
    id: pathOf(node),
    kind,
    title: node.key,
    ...(node.description === undefined ? {} : { description: node.description }),
    notes: notesOf(row),
    children: innerBoxes(row),
  };
}

function notesOf({ node, outcomes }: StateRow): ChartNote[] {
  const always = (['entry', 'exit'] as const).flatMap((on) => {
    const actions = (node[on] as Parameters<typeof nameOf>[0][]).map(nameOf);
    return actions.length === 0 ? [] : [{ on, guard: '', actions }];
  });
  const kept = outcomes
    .filter(({ target }) => target === undefined)
    .map(({ event, guard, actions }) => ({ on: event, guard, actions }));
  return [...always, ...kept];
}

const entersInside = (row: StateRow, target: AnyStateNode | undefined): boolean =>
  target !== undefined && isInside(target, row.node);

function arrowsOf(row: StateRow): ChartEdge[] {
  const edges = new Map<string, ChartEdge>();
  for (const { event, guard, target, actions } of row.outcomes) {
    if (target === undefined) continue;
    const inside = entersInside(row, target);
    const source = inside ? anyOf(row.node) : pathOf(row.node);
    const ends = `${source} ${pathOf(target)}`;
    const edge = edges.get(ends) ?? { source, target: pathOf(target), events: [] };
    const except = inside
      ? row.children.filter((child) => overrides(child, event)).map(({ node }) => node.key)
      : [];
    edge.events.push({ event, guard, except, actions });
    edges.set(ends, edge);
  }
  const first = row.node.initial?.target.map((node) => ({
    source: startOf(row.node),
    target: pathOf(node as AnyStateNode),
    events: [],
  }));
  const start = row.children.length === 0 ? [] : (first ?? []);
  return [...start, ...edges.values(), ...row.children.flatMap(arrowsOf)];
}
