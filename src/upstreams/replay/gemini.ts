import { isObject } from '../../json/object.ts';
import { type AnswerObject, type AnswerReplay, objectsIn, plainEvent, without } from './replay.ts';

/** Gemini's generateContent (Gemini API docs: GenerateContentResponse). */
export const geminiReplay: AnswerReplay = {
  id: 'responseId',

  assemble(chunks) {
    const candidates = new Map<unknown, Record<string, unknown>>();
    let members: Record<string, unknown> = {};
    for (const chunk of chunks) {
      members = { ...members, ...without(chunk, 'candidates') };
      for (const added of objectsIn(chunk['candidates'])) {
        const index = added['index'] ?? 0;
        const before = candidates.get(index);
        const parts = [...partsOf(before), ...partsOf(added)].reduce(joined, []);
        const content = { role: 'model', parts };
        candidates.set(index, { ...before, ...added, content });
      }
    }
    if (candidates.size === 0) return undefined;
    return { candidates: [...candidates.values()].map(tidy), ...members };
  },

  ids: ({ candidates }) =>
    objectsIn(candidates)
      .flatMap(partsOf)
      .map(({ functionCall }) => (isObject(functionCall) ? functionCall['id'] : undefined)),

  // A chunk has the same type as a whole answer.
  stream: (answer) => plainEvent(answer),
};

function partsOf(candidate: AnswerObject | undefined): AnswerObject[] {
  const content = candidate?.['content'];
  return isObject(content) ? objectsIn(content['parts']) : [];
}

const isPlain = (part: AnswerObject) =>
  typeof part['text'] === 'string' &&
  Object.keys(part).every((name) => name === 'text' || name === 'thought');

/** Adds a part to a list. Texts that follow each other become one text. */
function joined(parts: AnswerObject[], part: AnswerObject): AnswerObject[] {
  const last = parts.at(-1);
  const isSame = last && isPlain(last) && isPlain(part) && last['thought'] === part['thought'];
  if (!last || !isSame) return [...parts, part];
  return [...parts.slice(0, -1), { ...last, text: `${last['text']}${part['text']}` }];
}

/** Removes empty texts, unless a candidate has nothing else. */
function tidy(candidate: AnswerObject): AnswerObject {
  const parts = partsOf(candidate);
  const filled = parts.filter((part) => !isPlain(part) || part['text'] !== '');
  const kept = filled.length > 0 ? filled : parts.slice(0, 1);
  return { ...candidate, content: { role: 'model', parts: kept } };
}
