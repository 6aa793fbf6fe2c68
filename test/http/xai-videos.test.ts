/**
 * `GET /v1/videos/{id}` has the states and members that xAI's client reads
 * (@ai-sdk/xai 5.0.12: src/xai-video-model.ts).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TaskView } from '../../src/inference/tasks/port.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import type { FakeTasks } from '../support/fake-tasks.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

let names = 0;
/** Keeps a task, of another organization if `organization` is given. Returns the id of the task. */
function keep(scene: TaskView['scene'], more: Partial<TaskView>, organization?: string): string {
  names += 1;
  const model = { scene, id: `some-${scene}` } as Parameters<FakeTasks['view']>[0]['model'];
  const view = app.tasks.view({ model, request_id: `xai-${names}` }, more);
  app.tasks.keep(view, organization ?? app.organization_id);
  return view.id;
}

test.each([
  ['pending', 202, 'pending'],
  ['processing', 202, 'pending'],
  ['completed', 200, 'done'],
  ['failed', 200, 'failed'],
] as const)('%s is %i %s', async (status, http, state) => {
  const output = { kind: 'video', file: 'v.mp4', duration: 8 } as const;
  const id = keep('video', { status, outputs: [output] });
  const response = await app.fetch(`/v1/videos/${id}`);
  expect(response.status).toBe(http);
  const url = `${app.base_url}/v1/files/v.mp4?signature=s`;
  expect(await response.json()).toMatchObject({
    ...{ id, request_id: id, status: state },
    ...(state === 'done' ? { video: { url, duration: 8 } } : {}),
    ...(state === 'failed' ? { error: { message: expect.any(String) } } : {}),
  });
});

test('P6: 404 for other tasks, and for tasks of another organization', async () => {
  const ids = [keep('image', {}), keep('video', {}, '00000000-0000-0000-0000-000000000000')];
  const missing = await app.fetch('/v1/videos/weir_nope');
  expect(await missing.json()).toMatchObject({ error: { code: 'async_task_not_found' } });
  for (const id of ids) expect((await app.fetch(`/v1/videos/${id}`)).status).toBe(404);
});

test('404 for a video of OpenAI, with a hint', async () => {
  const response = await app.fetch('/v1/videos/video_123');
  expect(await response.json()).toMatchObject({
    error: { hint: expect.stringContaining('/v1/videos/generations') },
  });
});
