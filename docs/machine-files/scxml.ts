import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { isInside, pathOf } from '../state-diagram.ts';

/** A named guard or action, as the machines write them. */
type Reference = string | { type: string; params?: object };

/**
 * Returns a machine as an SCXML document (W3C Recommendation of 2015). Its states, events, guards and
 * targets are those of the machine, so an SCXML interpreter reaches the same states.
 *
 * SCXML has no named guards and actions. A guard holds if the data of the event has a member of its
 * name that is true. An action is a `log` with its name, and with its parameters as value.
 *
 * @throws if the machine uses a feature that the export does not know, e.g. parallel states.
 */
export function scxmlOf(machine: AnyStateMachine, source: string): string {
  const { root } = machine;
  const states = Object.values(root.states);
  const own = transitionsOf(root);
  if (root.entry.length + root.exit.length > 0)
    throw new Error(`${machine.id}: actions of the root`);
  // The element scxml has no transitions. So those of the machine itself need a state around all others.
  // Final states stay outside, because only outside they end the machine.
  const final = states.filter(({ type }) => type === 'final');
  const others = states.filter(({ type }) => type !== 'final');
  const body =
    own.length === 0
      ? states.flatMap(stateOf)
      : [
          `<state id="${machine.id}" initial="${initialOf(root)}">`,
          ...indented([...own, ...others.flatMap(stateOf)]),
          '</state>',
          ...final.flatMap(stateOf),
        ];
  const attributes = [
    'xmlns="http://www.w3.org/2005/07/scxml"',
    'version="1.0"',
    'datamodel="ecmascript"',
    `name="${machine.id}"`,
    `initial="${own.length === 0 ? initialOf(root) : machine.id}"`,
  ];
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!-- Printed from ${source} by bin/machines.`,
    '     A guard holds if the data of the event has a member of its name that is true.',
    '     An action is a log element with its name, and with its parameters as value. -->',
    `<scxml ${attributes.join(' ')}>`,
    ...indented(body),
    '</scxml>',
  ].join('\n')}\n`;
}

function stateOf(node: AnyStateNode): string[] {
  const tag = node.type === 'final' ? 'final' : 'state';
  if (!['atomic', 'compound', 'final'].includes(node.type)) {
    throw new Error(`${pathOf(node)}: the type ${node.type} is not exported`);
  }
  const initial = node.type === 'compound' ? ` initial="${initialOf(node)}"` : '';
  const inner = [
    ...(node.description === undefined ? [] : [`<!-- ${node.description} -->`]),
    ...block('onentry', node.entry as Reference[]),
    ...block('onexit', node.exit as Reference[]),
    ...transitionsOf(node),
    ...Object.values(node.states).flatMap(stateOf),
  ];
  const open = `<${tag} id="${pathOf(node)}"${initial}`;
  if (inner.length === 0) return [`${open}/>`];
  return [`${open}>`, ...indented(inner), `</${tag}>`];
}

function initialOf(node: AnyStateNode): string {
  if (node.initial.actions.length > 0)
    throw new Error(`${pathOf(node)}: actions of the first state`);
  return node.initial.target.map(pathOf).join(' ');
}

/** The transitions of a state, in the order in which their guards are tried. */
function transitionsOf(node: AnyStateNode): string[] {
  return [...node.transitions.values()].flat().flatMap((each) => transitionOf(node, each));
}

function transitionOf(node: AnyStateNode, transition: AnyTransitionDefinition): string[] {
  const { eventType, guard, actions, target, reenter } = transition;
  const targets = target ?? [];
  const attributes = [
    ...(eventType === '' ? [] : [`event="${escaped(eventType)}"`]),
    ...(guard === undefined ? [] : [`cond="${escaped(condition(guard as Reference))}"`]),
    ...whereTo(node, targets, reenter),
  ];
  const open = `<transition ${attributes.join(' ')}`;
  if (actions.length === 0) return [`${open}/>`];
  return [`${open}>`, ...indented((actions as Reference[]).map(logOf)), '</transition>'];
}

/**
 * The attributes for the target of a transition. SCXML always leaves the state with a transition to itself.
 * XState only does so if the transition says `reenter`.
 */
function whereTo(node: AnyStateNode, targets: readonly AnyStateNode[], reenter: boolean): string[] {
  if (targets.length === 0) return [];
  const target = `target="${targets.map(pathOf).join(' ')}"`;
  if (reenter) return [target];
  if (targets.includes(node)) {
    if (node.type === 'compound') throw new Error(`${pathOf(node)}: leads to itself`);
    return [];
  }
  const is_inside = targets.every((each) => isInside(each, node) && !isOutsideOfAll(each));
  return is_inside ? [target, 'type="internal"'] : [target];
}

/** True for a final state of the machine itself, which stands outside the state around all others. */
const isOutsideOfAll = (node: AnyStateNode) => node.type === 'final' && node.path.length === 1;

function condition(guard: Reference): string {
  if (typeof guard !== 'string') throw new Error(`the guard ${guard.type} has parameters`);
  return `_event.data && _event.data.${guard} === true`;
}

function block(tag: string, actions: readonly Reference[]): string[] {
  return actions.length === 0 ? [] : [`<${tag}>`, ...indented(actions.map(logOf)), `</${tag}>`];
}

function logOf(action: Reference): string {
  if (typeof action === 'string') return `<log label="${escaped(action)}"/>`;
  const { type, params = {} } = action;
  if (Object.keys(params).length === 0) return `<log label="${escaped(type)}"/>`;
  return `<log label="${escaped(type)}" expr="${escaped(JSON.stringify(params))}"/>`;
}

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
