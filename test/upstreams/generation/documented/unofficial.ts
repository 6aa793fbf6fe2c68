/** Answers of providers without an official package: Kling, Ideogram, Stability, Midjourney, Suno. */
import {
  BASE64,
  type DocumentedAnswer,
  FILM,
  fails,
  PICTURE_URL,
  prompt,
  SONG,
  shownBy,
  step,
} from './answer.ts';

const TIMES = { created_at: 1_722_769_557_708, updated_at: 1_722_769_557_708 };
const klingTask = (task_status: string, more: object = {}) =>
  step({
    ...{ code: 0, message: 'success', request_id: 'req-1' },
    data: { task_id: 'task-1', task_status, task_info: {}, ...TIMES, ...more },
  });
const klingVideo = (status: string, duration: string) =>
  klingTask(status, {
    ...{ task_status_msg: '', watermark_info: { enabled: false }, final_unit_deduction: '1' },
    task_result: {
      videos: [{ id: 'video-1', url: FILM, watermark_url: `${FILM}?w=1`, duration }],
    },
  });
const KLING = { prompt, duration: 5, output_audio: false };
const klingFilm = (usd: number, duration = 5) => ({ data: [{ file: true, duration }], usd });

const KLING_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy(
    'kling',
    'vercel/ai: packages/klingai/src/klingai-video-model.test.ts',
    {
      ...{ model: 'kling-3.0', call: KLING, gives: klingFilm(0.42) },
      steps: [
        klingTask('submitted', { task_info: { external_task_id: null } }),
        klingTask('processing', { task_status_msg: '' }),
        klingVideo('succeed', '5.0'),
      ],
    },
    {
      ...{ model: 'kling-3.0', call: KLING, gives: fails('moderation') },
      steps: [
        klingTask('submitted'),
        klingTask('failed', { task_status_msg: 'Content policy violation' }),
      ],
    },
  ),
  ...shownBy('kling', 'kling-api@1.0.0: dist/handlers/result-poller.js', {
    ...{ model: 'kling-3.0', call: KLING, gives: fails('upstream') },
    steps: [klingTask('submitted'), klingTask('failed')],
  }),
  ...shownBy('kling', 'apidoc.cometapi.com: Kling, multi-image2video', {
    // The video is a little longer than requested, which the client does not pay.
    ...{ model: 'kling-3.0', gives: klingFilm(0.42, 5.1) },
    call: { ...KLING, image_url: 'https://example.com/a.png' },
    steps: [
      step({
        ...{ code: 0, message: 'SUCCEED' },
        data: { task_id: '861309198188019719', task_status: 'submitted', task_info: {}, ...TIMES },
      }),
      klingVideo('succeed', '5.1'),
    ],
  }),
];

const ideogramImage = (more: object = {}) => ({
  ...{ seed: 511_526_458, prompt: 'A lighthouse', resolution: '1024x1024', url: PICTURE_URL },
  ...{ is_image_safe: true, style_type: 'REALISTIC', ...more },
});
const CREATED = '2025-08-27T18:23:28.806107195+08:00';

const IDEOGRAM_ANSWERS: readonly DocumentedAnswer[] = shownBy(
  'ideogram',
  'developer.ideogram.ai: Generate with Ideogram 3.0; its example on s.apifox.cn, api-356765992',
  {
    ...{ model: 'ideogram-v3', call: { prompt: 'A lighthouse' } },
    steps: [step({ data: [ideogramImage()], created: CREATED })],
    gives: { data: [{ file: true }], usd: 0.06 },
  },
  {
    ...{ model: 'ideogram-v3', call: { prompt, n: 2 } },
    steps: [
      step({
        created: CREATED,
        data: [
          ideogramImage({ prompt: 'A tall lighthouse' }),
          ideogramImage({ is_image_safe: false, url: null }),
        ],
      }),
    ],
    gives: { data: [{ file: true, revised_prompt: 'A tall lighthouse' }], usd: 0.06 },
  },
  {
    ...{ model: 'ideogram-v3', call: { prompt }, gives: fails('moderation') },
    steps: [step({ created: CREATED, data: [ideogramImage({ is_image_safe: false, url: null })] })],
  },
);

const STABILITY = 'litellm-core@1.106.4: litellm/types/llms/stability.py';
const STABILITY_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy(
    'stability',
    STABILITY,
    {
      ...{ model: 'stable-diffusion-3.5-large', call: { prompt } },
      steps: [step({ image: BASE64, finish_reason: 'SUCCESS', seed: 343_940_597 })],
      gives: { data: [{ file: true }], usd: 0.065 },
    },
    {
      ...{ model: 'stable-diffusion-3.5-large', call: { prompt } },
      steps: [step({ image: BASE64, finish_reason: 'CONTENT_FILTERED', seed: 343_940_597 })],
      gives: fails('moderation'),
    },
  ),
];

const mjTask = (status: string, more: object = {}) =>
  step({
    ...{ id: '14001929738841620', action: 'IMAGINE', status, prompt, promptEn: 'Lighthouse' },
    ...{ description: `/imagine ${prompt}`, submitTime: 1_689_231_405_854 },
    ...{ startTime: 1_689_231_442_755, finishTime: 1_689_231_544_312, failReason: null },
    ...{ properties: { finalPrompt: 'Lighthouse' }, ...more },
  });
const mjSubmitted = (code: number, description: string, properties: object = {}) =>
  step({ code, description, result: '14001929738841620', properties });
const MIDJOURNEY = { model: 'midjourney', call: { prompt } };
const GRID = { data: [{ file: true }], usd: 0.05 };

const MIDJOURNEY_ANSWERS: readonly DocumentedAnswer[] = shownBy(
  'midjourney',
  'novicezk/midjourney-proxy: docs/api.md',
  {
    ...{ ...MIDJOURNEY, gives: GRID },
    steps: [
      mjSubmitted(1, '成功', { discordInstanceId: '1118138338562560102' }),
      mjTask('SUBMITTED', { progress: '0%' }),
      // A preview of the image that is not ready.
      mjTask('IN_PROGRESS', { progress: '46%', imageUrl: `${PICTURE_URL}?preview=1` }),
      mjTask('SUCCESS', { progress: '100%', imageUrl: PICTURE_URL }),
    ],
  },
  {
    ...{ ...MIDJOURNEY, gives: GRID },
    steps: [
      mjSubmitted(22, '排队中，前面还有1个任务', { numberOfQueues: 1 }),
      mjTask('NOT_START'),
      mjTask('SUCCESS', { progress: '100%', imageUrl: PICTURE_URL }),
    ],
  },
  {
    ...{ ...MIDJOURNEY, gives: fails('moderation') },
    steps: [
      step({
        ...{ code: 24, description: '可能包含敏感词' },
        properties: { promptEn: 'nude body', bannedWord: 'nude' },
      }),
    ],
  },
  {
    ...{ ...MIDJOURNEY, gives: fails('upstream') },
    steps: [
      mjSubmitted(1, '成功'),
      mjTask('FAILURE', { failReason: '[Invalid parameter] Invalid value' }),
    ],
  },
);

const clip = (id: string, more: object = {}) => ({
  ...{ id, title: 'Weekend', handle: 'robots', status: 'complete', is_liked: false },
  metadata: {
    ...{ tags: 'heartfelt salsa', type: 'gen', prompt: '', stream: true, history: null },
    ...{ duration: 128.92, error_type: null, error_message: null, refund_credits: false },
  },
  ...{ audio_url: SONG, image_url: PICTURE_URL, video_url: FILM, model_name: 'chirp-v3' },
  ...more,
});
const sunoAnswer = (data: unknown, code: string | number = 'success') =>
  step({ code, message: '', data });
const sunoTask = (status: string, data: unknown, more: object = {}) =>
  sunoAnswer({
    ...{ task_id: 'task-1', action: 'MUSIC', status, fail_reason: '', progress: '100%' },
    ...{ submit_time: 1_726_911_801, start_time: 1_726_911_812, finish_time: 1_726_911_897, data },
    ...more,
  });
const SUNO = { model: 'suno_music', call: { prompt, mv: 'chirp-v4' } };
const song = (title: string, duration: number) => ({ type: 'audio', title, file: true, duration });
const SONGS = { data: [song('Weekend', 128.92), song('Weekend', 128.92)], usd: 0.06 };

const SUNO_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy('suno', 'xiaotian.apifox.cn/api-230451836; docs.yutoai.net: POST /suno/fetch', {
    ...{ ...SUNO, gives: SONGS },
    steps: [
      sunoAnswer('736a6f88-bd29-4b1e-b110-37132a5325ac'),
      sunoTask('IN_PROGRESS', [clip('a', { status: 'streaming' })], { progress: '0%' }),
      sunoTask('SUCCESS', [clip('a'), clip('b')]),
    ],
  }),
  ...shownBy('suno', 'docs.yutoai.net/en/api/api-175909212.html', {
    ...{ model: 'suno_lyrics', call: { prompt: 'dance' } },
    gives: { data: [{ type: 'lyrics', title: 'Electric', text: '[Verse]\nDancing' }], usd: 0.002 },
    steps: [
      sunoAnswer('f4a94d75'),
      sunoTask(
        'SUCCESS',
        { id: 'f4a94d75', text: '[Verse]\nDancing', title: 'Electric', status: 'complete' },
        { action: 'LYRICS', notify_hook: '' },
      ),
    ],
  }),
  ...shownBy('suno', 'docs.aiid.edu.kg: Query a music task by ID', {
    ...{ ...SUNO, gives: { data: [song('夏日海风', 180)], usd: 0.03 } },
    steps: [
      sunoAnswer('task_1'),
      sunoTask('SUCCESS', [
        {
          ...{ id: 'clip_1', title: '夏日海风', audio_url: SONG, image_url: PICTURE_URL },
          ...{ model_name: 'suno-v5', metadata: { duration: 180, prompt } },
        },
      ]),
    ],
  }),
  ...shownBy(
    'suno',
    'Suno-API/Suno-API: api.go, FetchByID',
    {
      ...{ ...SUNO, gives: SONGS },
      steps: [
        sunoAnswer('task-1'),
        sunoAnswer([clip('a', { status: 'submitted', audio_url: '' })]),
        sunoAnswer([clip('a'), clip('b', { status: 'streaming' })]),
        sunoAnswer([clip('a'), clip('b')]),
      ],
    },
    {
      ...{ ...SUNO, gives: fails('moderation') },
      steps: [
        sunoAnswer('task-1'),
        sunoAnswer([
          clip('a', {
            ...{ status: 'error', audio_url: '' },
            metadata: { error_type: 'moderation', error_message: 'Flagged by moderation.' },
          }),
        ]),
      ],
    },
    {
      ...{ model: 'suno_lyrics', call: { prompt: 'dance' } },
      gives: { data: [{ type: 'lyrics', title: 'Dance', text: '[Verse]\nMove' }], usd: 0.002 },
      steps: [
        sunoAnswer('task-1'),
        sunoAnswer({ text: '[Verse]\nMove', status: 'complete', title: 'Dance' }),
      ],
    },
  ),
  ...shownBy('suno', 'docs.crazyrouter.com/audio/suno/query', {
    ...{ ...SUNO, gives: { data: [song('夏日海边', 120.5), song('夏日海边', 118.3)], usd: 0.06 } },
    steps: [
      sunoAnswer({ task_id: 'suno_task_1' }, 1),
      sunoAnswer({ task_id: 'suno_task_1', status: 'processing', data: [] }, 1),
      sunoAnswer(
        {
          ...{ task_id: 'suno_task_1', status: 'complete' },
          data: [120.5, 118.3].map((duration, at) => ({
            ...{ id: `clip_00${at}`, title: '夏日海边', audio_url: SONG, image_url: PICTURE_URL },
            ...{ duration, tags: 'pop, chinese, upbeat', prompt, status: 'complete' },
          })),
        },
        1,
      ),
    ],
  }),
];

export const UNOFFICIAL_ANSWERS: readonly DocumentedAnswer[] = [
  ...KLING_ANSWERS,
  ...IDEOGRAM_ANSWERS,
  ...STABILITY_ANSWERS,
  ...MIDJOURNEY_ANSWERS,
  ...SUNO_ANSWERS,
];
