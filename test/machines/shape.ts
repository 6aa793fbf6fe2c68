/** The shape of a machine as text: all that a change of its definition can change. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { toDirectedGraph } from 'xstate/graph';
import { nameOf, pathOf } from '../../docs/state-diagram.ts';

type Reference = Parameters<typeof nameOf>[0];
type GraphNode = ReturnType<typeof toDirectedGraph>;

/**
 * Returns a line for each state with its entry and exit actions, and for each event of the state
 * with guard, target and actions.
 */
export function shapeOf(machine: AnyStateMachine): string[] {
  return linesOf(toDirectedGraph(machine));
}

function linesOf({ stateNode: node, edges, children }: GraphNode): string[] {
  const name = node.path.length === 0 ? 'any state' : pathOf(node);
  const initial = node.initial?.target.map(pathOf).join(' ') ?? '';
  const state = [
    `${name}: ${node.type}`,
    ...(initial === '' ? [] : [`begins in ${initial}`]),
    ...actionsOf('entry', node.entry as Reference[]),
    ...actionsOf('exit', node.exit as Reference[]),
  ].join('; ');
  const events = edges.map(({ transition: { eventType, guard, target, actions, reenter } }) =>
    [
      `${name}: ${eventType}`,
      ...(guard ? [`if ${nameOf(guard as Reference)}`] : []),
      ...(target ? [`to ${(target as AnyStateNode[]).map(pathOf).join(' ')}`] : []),
      ...(reenter ? ['reenter'] : []),
      ...actionsOf('do', actions as Reference[]),
    ].join('; '),
  );
  return [state, ...events, ...children.flatMap(linesOf)];
}

function actionsOf(when: string, actions: readonly Reference[]): string[] {
  return actions.length === 0 ? [] : [`${when} ${actions.map(nameOf).join(', ')}`];
}
