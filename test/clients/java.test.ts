/**
 * The Java packages of OpenAI, Anthropic and Google on models of three vendors. The packages are the
 * judges: they validate each answer, and the program in `java` prints what they decoded.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { withPrograms } from '../full/support/installed.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { type Command, compileJava, javaPackages } from './support/compiled.ts';
import {
  CHAT_MODEL_NAMES,
  runClient,
  startVendorWeir,
  type VendorWeir,
} from './support/vendor-weir.ts';

setDefaultTimeout(240_000);

const java = await javaPackages();

withPrograms([java], (program) => {
  const folder = throwawayFolder('java');
  let client: Command;
  let stand: VendorWeir | undefined;
  beforeAll(async () => {
    [client, stand] = await Promise.all([compileJava(program, folder), startVendorWeir()]);
  });
  afterAll(async () => {
    await stand?.stop();
    removeFolder(folder);
  });

  test.each(CHAT_MODEL_NAMES)('the packages call %s', async (model) => {
    const cities = ['Oslo', 'Rome'];
    const refused = [400, 'model_not_found', 'model', 'gpt-4o', true];
    const chat = [model, 12, 'stop'];
    const response = [model, 12, 'completed'];
    const message = [model, 12, 'end_turn'];
    const content = [model, 12, 'STOP'];
    const google = [400, 'INVALID_ARGUMENT', true];
    expect(await runClient(client, stand, model)).toEqual({
      'openai chat': [chat, chat, true],
      'openai chat tools': [cities, 'stop', true],
      'openai chat tools streamed': [cities, 'stop', true],
      'openai chat object': true,
      'openai chat error': ['invalid_request_error', ...refused],
      'openai responses': [response, response, true],
      'openai responses tools': [cities, 'completed', true],
      'openai responses stored': [true, true, 404],
      'openai responses object': true,
      'openai responses error': ['invalid_request_error', ...refused],
      'openai embeddings': [2, 1_536, 2],
      'openai images': [1, true],
      'openai models': [true, model],
      'openai input tokens': [404, true],
      'openai chat cut': [true, true],
      'openai responses cut': [true, true],
      'anthropic message': [message, message, true],
      'anthropic tools': [cities, [true, true], 'end_turn', true],
      'anthropic tools streamed': [cities, [true, true], 'end_turn', true],
      'anthropic runner': [cities, 'end_turn', true],
      'anthropic runner streamed': [cities, 'end_turn', true],
      'anthropic batch': [[12], 1],
      'anthropic object': true,
      'anthropic count': true,
      'anthropic models': [true, model],
      'anthropic error': ['invalid_request_error', ...refused],
      'anthropic count error': ['invalid_request_error', ...refused],
      'anthropic cut': [true, true],
      'google content': [content, content, true],
      'google tools': [cities, true],
      'google tools streamed': [cities, true],
      'google functions': [cities, true],
      'google chat': [6, true],
      'google chat streamed': [6, true],
      'google object': [true, true],
      'google count': true,
      'google models': [true, `models/${model}`],
      'google embeddings': [404, 'NOT_FOUND', true],
      'google error': google,
      'google stream error': google,
      'google count error': google,
      'google cut': [true, true],
    });
  });
});
