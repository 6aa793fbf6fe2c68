/** Answers about named states: each is read once, and a failure is not kept. */
import { describe, expect, test } from 'bun:test';
import { KeptAnswers } from '../../../src/http/management/usage/kept-answers.ts';

describe('kept answers', () => {
  test('of fifty equal questions are read once, also those that come later', async () => {
    const answers = new KeptAnswers();
    let reads = 0;
    const ask = () =>
      answers.run('a', async () => {
        reads += 1;
        await Bun.sleep(1);
        return 'answer';
      });
    const at_once = await Promise.all(Array.from({ length: 50 }, ask));
    expect(new Set(at_once)).toEqual(new Set(['answer']));
    expect(await ask()).toBe('answer');
    expect(reads).toBe(1);
  });

  test('of other names are other answers', async () => {
    const answers = new KeptAnswers();
    const named = ['a', 'b', 'a'].map((name) => answers.run(name, async () => name));
    expect(await Promise.all(named)).toEqual(['a', 'b', 'a']);
  });

  test('that failed, or that are long, are read again', async () => {
    const answers = new KeptAnswers();
    const fails = () => answers.run('a', () => Promise.reject(new Error('away')));
    await expect(fails()).rejects.toThrow('away');
    expect(await answers.run('a', async () => 'back')).toBe('back');
    let reads = 0;
    const long = () =>
      answers.run('long', async () => {
        reads += 1;
        return 'x'.repeat(200_000);
      });
    await long();
    await long();
    expect(reads).toBe(2);
  });

  test('are bounded: the one that was used least recently is read again', async () => {
    const answers = new KeptAnswers();
    const reads: number[] = [];
    const ask = (number: number) =>
      answers.run(String(number), async () => {
        reads.push(number);
        return '';
      });
    for (let number = 0; number < 300; number += 1) await ask(number);
    await ask(299);
    await ask(0);
    expect(reads.length).toBe(301);
  });
});
