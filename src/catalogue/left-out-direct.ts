/** Parameters of the routes of direct calls that Weir takes and does not send (P18). */
import { ABOUT_CALLER, type LeftOut } from './left-out-entry.ts';

const SPEECH = '/v1/audio/speech';
const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const TRANSLATIONS = '/v1/audio/translations';

export const DIRECT_LEFT_OUT: readonly LeftOut[] = [
  {
    ...{ routes: ['/v1/embeddings'], param: 'encoding_format', upstreams: ['gemini'] },
    ...{ reason: 'own', why: 'Weir encodes the vectors.' },
  },
  {
    ...{ routes: [SPEECH], param: 'response_format', upstreams: ['gemini'], reason: 'own' },
    why: 'The upstream returns samples. Weir writes the header of a WAV file before them.',
  },
  {
    ...{ routes: ['/v1/embeddings'], param: 'user', upstreams: ['gemini'], reason: 'hint' },
    why: ABOUT_CALLER,
  },
  {
    ...{ routes: [SPEECH], param: 'stream_format', upstreams: ['gemini'], values: ['audio'] },
    ...{ reason: 'default', why: 'The answer is the sound itself.' },
  },
  {
    ...{ routes: [SPEECH], param: 'speed', upstreams: ['gemini'], values: [1] },
    ...{ reason: 'default', why: 'It is the default.' },
  },
  {
    ...{ routes: ['/v1/rerank'], param: 'return_documents', reason: 'own' },
    why: 'Weir puts the documents of the request into the answer.',
  },
  {
    ...{ routes: [TRANSCRIPTIONS, TRANSLATIONS], param: 'response_format', reason: 'own' },
    why: 'Weir writes every format from the segments that the upstream returns.',
  },
  {
    ...{ routes: [TRANSCRIPTIONS, TRANSLATIONS], param: 'stream', values: ['false'] },
    ...{ reason: 'default', why: 'A transcript arrives in one piece.' },
  },
  {
    ...{ routes: [TRANSLATIONS], param: 'language', reason: 'specification' },
    why: 'The provider finds out which language is spoken.',
  },
];
