import { Type } from '@sinclair/typebox';
import { generationBody, takesImages } from './generation-body.ts';
import type { HeaderName, ReferenceRoute } from './route.ts';

const CATALOGUE = 'What each model takes: [catalogue](../catalogue.md).';
const PAID: readonly HeaderName[] = ['Idempotency-Key', 'x-weir-timeout-ms'];
const IMAGE: readonly HeaderName[] = [...PAID, 'x-weir-image-response-format'];

const create = (path: string) => ({
  ...{ method: 'POST' as const, path: `/v1/${path}`, caller: 'key' as const },
});
const show = (path: string, says: string): ReferenceRoute => ({
  ...{ method: 'GET', path: `/v1/${path}`, says, caller: 'key' },
});

/** The routes that create images, videos, music, sounds and 3D models, and those of their tasks. */
export const GENERATION_ROUTES: readonly ReferenceRoute[] = [
  {
    ...create('images/generations'),
    says: 'Creates images, and returns them or the task that makes them.',
    ...{ body: generationBody('image'), headers: IMAGE },
    more: `With \`stream\`, the answer is server-sent events. ${CATALOGUE}`,
  },
  {
    ...create('images/edits'),
    says: 'Edits images, and returns the new ones or the task that makes them.',
    ...{ body: generationBody('image', takesImages), headers: IMAGE },
    body_types: ['application/json', 'multipart/form-data'],
    words: {
      image: 'The images to edit: URLs or `data:` URLs in JSON, files in a form. Required.',
      mask: 'Which part of the first image changes: a URL in JSON, a file in a form.',
    },
    more: CATALOGUE,
  },
  {
    ...create('videos/generations'),
    says: 'Creates the task of a video.',
    ...{ body: generationBody('video'), headers: PAID },
    more: CATALOGUE,
  },
  {
    ...create('music/generations'),
    says: 'Creates the task of a song, or of lyrics.',
    ...{ body: generationBody('music'), headers: PAID },
    more: CATALOGUE,
  },
  {
    ...create('audio/generations'),
    says: 'Creates the task of a sound effect.',
    ...{ body: generationBody('audio'), headers: PAID },
    more: CATALOGUE,
  },
  {
    ...create('3d/generations'),
    says: 'Creates the task of a 3D model.',
    ...{ body: generationBody('3d'), headers: PAID },
    more: CATALOGUE,
  },
  show(
    'tasks/{id}',
    'Shows a task: its state, its progress, and its results with links to their files.',
  ),
  {
    ...show(
      'tasks/{id}/events',
      'Sends the changes of a task as server-sent events, until it has ended.',
    ),
    ...{ headers: ['Last-Event-ID'], answer: 'text/event-stream' },
    more: 'The events: [event streams of tasks](../operations.md#event-streams-of-tasks).',
  },
  show('images/generations/{id}', 'Shows the task of an image.'),
  show('images/{id}', 'Shows the task of an image.'),
  show('videos/{id}', 'Shows the task of a video, also with the members that clients of xAI read.'),
  show('music/generations/{id}', 'Shows the task of a song.'),
  {
    ...{ method: 'GET', path: '/v1/files/{name}', served: '/v1/files/*', caller: 'link' },
    says: 'Returns the file of a result by the signed link of its task.',
    plain: [
      { name: 'expires', schema: Type.Integer(), required: true },
      { name: 'signature', schema: Type.String(), required: true },
    ],
    ...{ headers: ['Range'], answer: '*/*' },
  },
];
