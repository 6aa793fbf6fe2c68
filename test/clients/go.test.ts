/**
 * The Go packages of OpenAI, Anthropic and Google on models of three vendors. The packages are the
 * judges: the program in `go` prints what they decoded.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { withPrograms } from '../full/support/installed.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { waitForHits } from './support/cache-hits.ts';
import { type Command, compileGo, goPackages } from './support/compiled.ts';
import {
  CHAT_MODEL_NAMES,
  runClient,
  startVendorWeir,
  type VendorWeir,
} from './support/vendor-weir.ts';

setDefaultTimeout(240_000);

/** A run has more chat calls that can be repeated than this. */
const MIN_HITS = 10;

const go = await goPackages([
  'github.com/openai/openai-go/v3',
  'github.com/anthropics/anthropic-sdk-go',
  'google.golang.org/genai',
]);

withPrograms([go], (program) => {
  const folder = throwawayFolder('go');
  let client: Command;
  let stand: VendorWeir | undefined;
  beforeAll(async () => {
    [client, stand] = await Promise.all([compileGo(program, folder), startVendorWeir()]);
  });
  afterAll(async () => {
    await stand?.stop();
    removeFolder(folder);
  });

  test('with the cache on, a second run gets the same answers', async () => {
    const cached = await startVendorWeir({ WEIR_CACHE: 'on' });
    try {
      for (const model of CHAT_MODEL_NAMES) {
        const first = await runClient(client, cached, model);
        expect(await runClient(client, cached, model)).toEqual(first);
      }
      await waitForHits(cached.weir, MIN_HITS * CHAT_MODEL_NAMES.length);
    } finally {
      await cached.stop();
    }
  });

  test.each(CHAT_MODEL_NAMES)('the packages call %s', async (model) => {
    const cities = ['Oslo', 'Rome'];
    const refused = [400, 'model_not_found', 'model', 'gpt-4o', true];
    const openai = { chat: [model, 12, 'stop'], responses: [model, 12, 'completed'] };
    const anthropic = [model, 12, 'end_turn'];
    const google = [model, 12, 'STOP'];
    expect(await runClient(client, stand, model)).toEqual({
      'openai chat': [...openai.chat, ...openai.chat, true],
      'openai chat tools': [cities, 'stop', true],
      'openai chat tools streamed': [cities, 'stop', true],
      'openai chat picture': 12,
      'openai chat parallel tools': [[true, true], 'tool_calls'],
      'openai chat object': true,
      'openai chat error': ['invalid_request_error', ...refused],
      'openai responses': [...openai.responses, ...openai.responses, true],
      'openai responses tools': [cities, 'completed', true],
      'openai responses stored': [true, true, true, 404],
      'openai responses object': true,
      'openai responses error': ['invalid_request_error', ...refused],
      'openai embeddings': [2, 1_536, 2],
      'openai images': [1, true],
      'openai image edit': [1, true],
      'openai image stream': ['image_generation.completed', true],
      'openai speech and transcript': [true, true, 'duration'],
      'openai headers': [true, true],
      'openai models': [true, model],
      'openai input tokens': [404, true],
      'openai chat cut': [true, true],
      'openai responses cut': [true, true],
      'openai missing members': [true, []],
      'anthropic message': [...anthropic, ...anthropic, true],
      'anthropic tools': [cities, ['direct', 'direct'], 'end_turn', true],
      'anthropic tools streamed': [cities, ['direct', 'direct'], 'end_turn', true],
      'anthropic runner': [cities, 'end_turn', true],
      'anthropic runner streamed': [cities, 'end_turn', true],
      'anthropic picture': 12,
      'anthropic batch': [[12], 1, true],
      'anthropic object': true,
      'anthropic count': true,
      'anthropic models': [true, model],
      'anthropic error': ['invalid_request_error', ...refused],
      'anthropic count error': ['invalid_request_error', ...refused],
      'anthropic cut': [true, true],
      'anthropic missing members': [true, []],
      'google content': [...google, ...google, true],
      'google tools': [cities, true],
      'google tools streamed': [cities, true],
      'google chat': [6, true],
      'google chat streamed': [6, true],
      'google picture': 12,
      'google object': [true, true],
      'google count': true,
      'google models': [true, `models/${model}`],
      'google embeddings': [404, 'NOT_FOUND', true],
      'google error': ['INVALID_ARGUMENT', ...refused],
      'google stream error': ['INVALID_ARGUMENT', ...refused],
      'google count error': ['INVALID_ARGUMENT', ...refused],
      'google cut': [true, true],
    });
  });
});
