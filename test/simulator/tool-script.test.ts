/** Scripted tool calls of the simulator. */
import { expect, test } from 'bun:test';
import { ToolScript } from '../../simulator/shared/tool-script.ts';

test('a script gives one call per turn, and the script of a sub-agent stays inside', () => {
  const script = new ToolScript();
  const inner = '[[call Bash {"command":"ls"}]]';
  script.user(`Go. [[call Agent ${JSON.stringify({ prompt: inner })}]] [[call Read {"a":[1]}]]`);
  expect(script.next).toEqual({ name: 'Agent', arguments: { prompt: inner } });
  script.result();
  expect(script.next).toEqual({ name: 'Read', arguments: { a: [1] } });
  script.result();
  expect([script.next, script.isGiven]).toEqual([undefined, true]);
  script.user('No script.');
  expect(script.next).toBeUndefined();
  script.user('[[call Read {"a":2}]]');
  expect(script.next?.arguments).toEqual({ a: 2 });
});
