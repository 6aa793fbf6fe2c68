import type { ChartLayout } from '../../charts/layout.ts';

/** A machine of Weir. */
interface Machine {
  readonly id: string;
  /** What has an actor of this machine, e.g. `each API key in use`. */
  readonly one_for: string;
  readonly layout: () => Promise<{ readonly default: unknown }>;
}

/** All machines, in the order in which a call meets them. Each chart is loaded when it is opened. */
export const MACHINES: readonly Machine[] = [
  {
    id: 'quota',
    one_for: 'each API key in use, on each replica',
    layout: () => import('../../../docs/machines/quota.layout.json'),
  },
  {
    id: 'channel',
    one_for: 'each model of an upstream channel, on each replica',
    layout: () => import('../../../docs/machines/channel.layout.json'),
  },
  {
    id: 'task',
    one_for: 'each image, video, song, sound or 3D model',
    layout: () => import('../../../docs/machines/task.layout.json'),
  },
  {
    id: 'batch',
    one_for: 'each message batch',
    layout: () => import('../../../docs/machines/batch.layout.json'),
  },
  {
    id: 'webhook',
    one_for: 'each ended task with a webhook_url',
    layout: () => import('../../../docs/machines/webhook.layout.json'),
  },
];

/** Loads the chart of a machine. The files are written by `bin/machines` in the form of `ChartLayout`. */
export async function loadLayout({ layout }: Machine): Promise<ChartLayout> {
  return (await layout()).default as ChartLayout;
}
