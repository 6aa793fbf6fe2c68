/** No model takes an input URL whose host is `localhost` or an internal IP address. */
import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { isPublicUrl } from '../../src/catalogue/contracts/media.ts';
import { isGenerationFamily } from '../../src/catalogue/families.ts';
import { WeirError } from '../../src/errors/weir-error.ts';
import { generationModel } from '../support/contracts.ts';
import { audio, element, image, video } from '../support/video-requests.ts';

const INTERNAL = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'api.localhost', '127.0.0.1', '127.1', '0x7f.1', '0'],
  ...['2130706433', '0177.0.0.1', '10.0.0.5', '172.16.0.1', '192.168.1.1', '169.254.169.254'],
  ...['100.64.0.1', '[::1]', '[::ffff:10.0.0.1]', '[fe80::1]', '[fd00::1]', '127.0.0.1.'],
];
const PUBLIC = [
  ...['example.com', 'localhost.example.com', 'mylocalhost', '8.8.8.8', '[2606:4700::1111]'],
  ...['10.example.com', 'sub.example.com.'],
];
const PORTS = ['', ':80', ':443', ':3999'];

describe.each(['http', 'https'])('%s', (scheme) => {
  test.each(INTERNAL)('%s is internal', (host) => {
    for (const port of PORTS) expect(isPublicUrl(`${scheme}://${host}${port}/a?b=c`)).toBe(false);
  });

  test.each(PUBLIC)('%s may be public', (host) => {
    for (const port of PORTS) expect(isPublicUrl(`${scheme}://${host}${port}/a?b=c`)).toBe(true);
  });
});

test('an internal host counts as public with exactly the port that the operator allowed', () => {
  const allowed = new Set(['127.0.0.1:8080', 'localhost:443', '[::1]:80']);
  for (const url of ['http://127.0.0.1:8080/x', 'https://localhost/x', 'http://[::1]/x']) {
    expect(isPublicUrl(url, allowed)).toBe(true);
    expect(isPublicUrl(url)).toBe(false);
  }
  for (const url of ['http://127.0.0.1/x', 'http://localhost/x', 'http://127.0.0.2:8080/x']) {
    expect(isPublicUrl(url, allowed)).toBe(false);
  }
});

/** Inputs in all the forms that models take, each under the name of its parameter. */
const INPUTS: Record<string, unknown>[] = [
  { image },
  { image: [image, image] },
  { image_url: image },
  { image_urls: [image, image] },
  { start_image: image, end_image: image },
  { reference_images: [image, image] },
  { video_url: video },
  { operation: 'reference-to-video', video_urls: [video] },
  { video_url: video, image_url: image },
  { image_url: image, audio_url: audio },
  { operation: 'reference-to-video', reference_images: [image], audio_urls: [audio] },
  { image_url: image, kling_elements: [element('a')] },
];

const MODELS = builtInModels().filter(({ family }) => isGenerationFamily(family));
let checked = 0;

describe.each(MODELS.map(({ id }) => id))('%s', (id) => {
  const { contract } = generationModel(id);
  const accept = (body: object): WeirError | undefined => {
    try {
      contract.accept({ prompt: 'a lighthouse', ...body });
      return undefined;
    } catch (error) {
      if (error instanceof WeirError) return error;
      throw error;
    }
  };

  test('refuses each input with an internal URL, and names it', () => {
    for (const body of INPUTS) {
      if (accept(body)) continue;
      for (const name of Object.keys(body)) {
        // Some models ignore parameters that they do not have.
        if (!Object.hasOwn(contract.schema.properties, name)) continue;
        const text = JSON.stringify(body[name]);
        for (const host of ['localhost:3999', '127.0.0.1', '169.254.169.254', '[::1]']) {
          const internal = text.replace('https://example.com/', `http://${host}/`);
          if (internal === text) continue;
          const error = accept({ ...body, [name]: JSON.parse(internal) });
          expect({ name, host, id: error?.id }).toEqual({ name, host, id: 'invalid_request' });
          expect(error?.details.param).toStartWith(name);
          checked += 1;
        }
      }
    }
  });
});

test('the models took many of the inputs with a public URL', () => {
  expect(checked).toBeGreaterThan(100);
});
