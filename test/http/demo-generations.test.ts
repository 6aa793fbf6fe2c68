/**
 * The demo after `bin/start`. Each generation model creates a task through Weir. The test polls it at its
 * poll_url, downloads the result from Weir, and expects one charge.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { isGenerationFamily, sceneOf } from '../../src/catalogue/families.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir();
});
afterAll(() => weir.stop());

const MODELS = builtInModels().filter(({ family }) => isGenerationFamily(family));
const PROMPT = 'A lighthouse in a storm [[sim task_ms=300]]';
const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const FILM = 'https://example.com/film.mp4';
const MAGIC = /^(\x89PNG|ID3|\xff\xfb|\xff\xf3|....ftyp|glTF)/s;

interface Task {
  status?: string;
  poll_url?: string;
  data?: { url?: string; text?: string }[];
  billing_transaction_id?: string;
  error?: unknown;
}

const send = (path: string, body?: object) =>
  fetch(weir.base_url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

/** The parameters that a model needs in addition to a prompt. */
function bodyFor(id: string): object {
  if (id.includes('upscale')) return { model: id, video_url: FILM };
  if (id.includes('motion-control')) {
    return { model: id, prompt: PROMPT, image_url: FILM.replace('mp4', 'png'), video_url: FILM };
  }
  if (id.includes('aleph')) return { model: id, prompt: PROMPT, video_url: FILM };
  if (id.includes('gen4-turbo')) return { model: id, prompt: PROMPT, image: PICTURE };
  if (id === 'suno_lyrics') return { model: id, prompt: PROMPT, action: 'LYRICS' };
  if (id === 'trellis' || id.startsWith('hunyuan')) return { model: id, image_url: PICTURE };
  return { model: id, prompt: PROMPT };
}

const PATHS = { image: 'images', video: 'videos', music: 'music', '3d': '3d', audio: 'audio' };

describe('a model of the demo', () => {
  // Each test waits for its task most of the time, so the tests run at the same time.
  test.concurrent.each(MODELS.map(({ id, family }) => [id, family] as const))(
    '%s',
    async (id, family) => {
      const scene = sceneOf(family) ?? 'image';
      const created = await send(`/v1/${PATHS[scene]}/generations`, bodyFor(id));
      let task = (await created.json()) as Task;
      expect({ id, status: created.status, task }).toMatchObject({ status: 200 });
      let last = created;
      while (task.status === 'pending' || task.status === 'processing') {
        await Bun.sleep(Math.min(500, Number(last.headers.get('retry-after')) * 1_000));
        last = await send(task.poll_url ?? '');
        task = (await last.json()) as Task;
      }
      expect({ id, error: task.error }).toEqual({ id, error: undefined });
      if (task.status) expect(task.billing_transaction_id).toMatch(/^txn_/);
      const [result] = task.data ?? [];
      if (id === 'suno_lyrics') {
        expect(result?.text).toContain('water');
        return;
      }
      expect(result?.url).toStartWith(`${weir.base_url}/v1/files/`);
      const file = await fetch(result?.url ?? '');
      expect(file.status).toBe(200);
      expect(Buffer.from(await file.bytes()).toString('latin1')).toMatch(MAGIC);
    },
  );
});
