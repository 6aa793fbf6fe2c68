import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  blockWith,
  commandsOf,
  membersOf,
  promisedBy,
  type ReadmeWeir,
  runProgram,
  runShell,
  shownBy,
  startReadmeWeir,
  unusedBlocks,
} from './readme-weir.ts';

/** The README's blocks run one after the other against a Weir that was started as the README says. */
let at: ReadmeWeir;
beforeAll(async () => {
  at = await startReadmeWeir();
});
afterAll(() => at.stop());

const CHAT = blockWith('"model":"gpt-4o-mini"');
const OPENAI = blockWith("from 'openai'");
const ANTHROPIC = blockWith("from '@anthropic-ai/sdk'");

const bytesOf = (name: string) => readFileSync(join(at.folder, name));
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

/** Converts Bun's output to Node's: Bun prints objects on several lines, with double quotes. */
const asNodePrints = (lines: string[]) =>
  lines.join(' ').replace(/\s+/g, ' ').replaceAll('"', "'").replaceAll(', }', ' }');

describe('README', () => {
  test('names the commands that start and test Weir', () => {
    // test/docs/paths.test.ts compares each command with its help.
    expect(commandsOf(blockWith('bin/test  '))).toContain('bin/start');
  });

  test('shows what the first start prints', () => {
    const block = blockWith('Base URL').text.split('\n');
    const labels = block.filter((line) => /^[A-Z][\w ]+ {2}|^Weir is ready/.test(line));
    expect(labels.length).toBe(6);
    for (const line of labels) expect(at.weir.output()).toContain(line.split('  ')[0] ?? '');
  });

  test('requests a chat completion', async () => {
    const answer = await runShell(at, commandsOf(CHAT));
    expect(membersOf(answer)).toEqual(expect.arrayContaining(membersOf(shownBy(CHAT))));
    const { choices, usage } = JSON.parse(answer);
    expect(shownBy(CHAT)).toContain(`"completion_tokens":${usage.completion_tokens}`);
    expect(shownBy(CHAT)).toContain(choices[0].message.content);
  });

  test('requests a stream', async () => {
    const shown = blockWith('data: [DONE]').text;
    const streamed = commandsOf(CHAT).replace('"model"', '"stream":true,"model"');
    const answer = await runShell(at, streamed);
    expect(membersOf(answer)).toEqual(expect.arrayContaining(membersOf(shown)));
    expect(answer.trimEnd()).toEndWith('\n\ndata: [DONE]');
  });

  test('uses the openai package for text and an image', async () => {
    const picture = blockWith('client.images.generate');
    const [answered, streamed, url] = linesOf(
      await runProgram(at, [OPENAI.text, 'console.log();', picture.text]),
    );
    expect([answered, streamed]).toEqual(promisedBy(OPENAI));
    expect(url).toMatch(/\/v1\/files\/.*\?expires=\d+&signature=/);
    expect((await fetch(url ?? '')).status).toBe(200);
  });

  test('uses the @anthropic-ai/sdk package, for a message, another provider’s model and a batch', async () => {
    const other = blockWith('const other');
    const batch = blockWith('messages.batches.create');
    const output = linesOf(
      await runProgram(at, [
        ANTHROPIC.text,
        other.text,
        'console.log(other.model, other.role);',
        batch.text,
      ]),
    );
    const promised = [...promisedBy(ANTHROPIC), 'gpt-4o assistant', 'first succeeded'];
    expect(asNodePrints(output)).toBe(promised.join(' '));
  });

  test('requests embeddings, speech, rerank, translations and a transcript', async () => {
    const block = blockWith('/v1/rerank');
    const answers = linesOf(await runShell(at, commandsOf(block))).map((line) => JSON.parse(line));
    expect(answers[0].data.length).toBe(2);
    const usage = { type: 'duration', seconds: expect.any(Number) };
    expect(answers.at(-1)).toEqual({ text: expect.any(String), usage });
    expect(bytesOf('hello.mp3').length).toBeGreaterThan(1_000);
  });

  test('repeats a request', async () => {
    const block = blockWith('Idempotency-Key: order-1');
    const [alias] = commandsOf(blockWith('/v1/rerank')).split('\n');
    const output = await runShell(at, `${alias}\n${commandsOf(block)}`);
    const [answer = ''] = linesOf(output);
    for (const line of shownBy(block).split('\n')) if (line !== '…') expect(output).toContain(line);
    expect(output).toEndWith(`${answer}\n`);
  });

  test('requests an image, a video and a song', async () => {
    const block = blockWith('/v1/music/generations');
    const [alias] = commandsOf(blockWith('/v1/rerank')).split('\n');
    const answers = linesOf(await runShell(at, `${alias}\n${commandsOf(block)}`));
    const [, shown = ''] = block.text.split('\n');
    expect(membersOf(answers[0] ?? '')).toEqual(expect.arrayContaining(membersOf(shown)));
    expect(answers.map((line) => JSON.parse(line).status)).toEqual([
      'pending',
      'pending',
      'pending',
    ]);
  });

  test('receives the events of a task', async () => {
    const block = blockWith('curl -N');
    const body = { model: 'midjourney', prompt: 'A lighthouse' };
    const create = `curl -q -s localhost:3999/v1/images/generations -H "Authorization: Bearer $WEIR_KEY" \\
      -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
    const { task_id } = JSON.parse(await runShell(at, create));
    const watch = commandsOf(block).replace('weir_…', task_id).replace('curl -N', 'curl -q -s -N');
    const output = await runShell(at, watch);
    const [shown] = /^id: .*\nevent: progress\ndata: .*$/m.exec(block.text) ?? [];
    const [event] = /^id: .*\nevent: progress\ndata: .*$/m.exec(output) ?? [];
    expect(membersOf(event ?? '')).toEqual(membersOf(shown ?? ''));
    expect(output).toContain('\nevent: completed\n');
  });

  test('has a script that creates, polls and downloads', async () => {
    const script = blockWith('# create, poll, download');
    const [, , args = ''] = /sh make\.sh (\w+) '([^']+)' (\S+)/.exec(script.text) ?? [];
    // The script reads answers from files, so curl must not add a line end.
    const curl = 'curl() { command curl -q --fail-with-body "$@"; }\n';
    await runShell(at, curl + script.text, ['images', args, 'out.png']);
    expect(bytesOf('out.png').subarray(1, 4).toString()).toBe('PNG');
  });

  test('verifies a webhook', async () => {
    const block = blockWith("from 'standardwebhooks'");
    const body = {
      model: 'gpt-image-1',
      prompt: 'A lighthouse',
      async: true,
      webhook_url: `http://${at.receiver}/hook`,
    };
    const create = `curl -s localhost:3999/v1/images/generations -H "Authorization: Bearer $WEIR_KEY" \\
      -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
    const { task_id } = JSON.parse(await runShell(at, create));
    const webhook = await at.webhook;
    const setup = `
      const response = await fetch('http://localhost:3999/v1/management/webhook-secret', {
        headers: { authorization: \`Bearer \${process.env.WEIR_MANAGEMENT_TOKEN}\` },
      });
      const { secret } = await response.json();
      const webhook = ${JSON.stringify(webhook)};
      const request = new Request('http://localhost/hook', { method: 'POST', ...webhook });`;
    const printed = await runProgram(at, [setup, block.text]);
    expect(printed).toStartWith(`${task_id} /v1/files/${task_id}/`);
  });

  test('shows the error of a deadline', async () => {
    const block = blockWith('x-weir-timeout-ms: 1000');
    const commands = commandsOf(block).replace('curl -s', 'curl -q -s');
    expect(JSON.parse(await runShell(at, commands))).toEqual(JSON.parse(shownBy(block)));
  });

  test('requests the balance', async () => {
    const block = blockWith('/v1/management/balance');
    const answer = await runShell(at, commandsOf(block));
    expect(membersOf(answer)).toEqual(membersOf(shownBy(block)));
    for (const { total_deposited, available, held, used } of [answer, shownBy(block)].map((text) =>
      JSON.parse(text),
    )) {
      expect(available + held + used).toBeCloseTo(total_deposited, 9);
    }
  });

  test('shows the error for a misspelled model', async () => {
    const shown = JSON.parse(blockWith('did_you_mean').text);
    const commands = commandsOf(CHAT).replace('gpt-4o-mini', 'gpt-4o-mni');
    // `-q` ignores the settings under which a refused call fails.
    const answer = JSON.parse(await runShell(at, commands.replace('curl -s', 'curl -q -s')));
    expect(answer).toEqual(shown);
  });

  test('has no untested block', () => {
    expect(unusedBlocks()).toEqual([]);
  });
});
