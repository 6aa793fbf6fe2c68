import { getTaskWork } from '../../../db/tasks/rows.ts';
import type { Effect } from '../../actors/durable/kind.ts';
import {
  followsSource,
  generationParts,
  type MeasuredVideo,
  priceGeneration,
  resolutionOf,
} from '../../catalogue/generation-price.ts';
import type { GenerationScene } from '../../catalogue/inputs.ts';
import { chargeWith } from '../../catalogue/own-key-fee.ts';
import type { TaskEvent } from '../../machines/task-events.ts';
import {
  modelOf,
  type ProducedRecord,
  type TaskEffectDeps,
  type TaskWork,
  workOf,
} from './deps.ts';
import { factsOfTask } from './facts.ts';
import { feeOfTask } from './own-tasks.ts';
import type { StoredOutput } from './port.ts';

/**
 * The effects `settle` and `refund`. Each effect reports an event, and changes the hold in the
 * transaction of that event (P1).
 */
export class TaskSettlement {
  constructor(private readonly deps: TaskEffectDeps) {}

  /**
   * Charges the produced results. The id of the usage line is the effect's idempotency key, so a
   * repeated run adds no second line (P15).
   */
  readonly settle: Effect = async (_, context) => {
    const work = workOf(await getTaskWork(this.deps.sql, context.actor_id, true));
    if (!work.produced) throw new Error(`task ${work.id} has produced nothing`);
    const billing_id = context.idempotency_key;
    return {
      report: { type: 'SETTLED', billing_id } satisfies TaskEvent,
      money: {
        type: 'SETTLE_HOLD',
        hold_id: work.hold_id,
        line: this.usageLine(work, work.produced, billing_id),
      },
    };
  };

  /** Releases the whole hold. */
  readonly refund: Effect = async (_, context) => {
    const work = workOf(await getTaskWork(this.deps.sql, context.actor_id));
    return {
      report: { type: 'RELEASED' } satisfies TaskEvent,
      money: { type: 'RELEASE_HOLD', hold_id: work.hold_id },
    };
  };

  private usageLine(work: TaskWork, { outputs, usage }: ProducedRecord, id: string) {
    const model = modelOf(this.deps, work);
    const { tokens } = usage;
    const measured = measuredIn(outputs, work.outputs as unknown as readonly StoredOutput[] | null);
    const isOpen = followsSource(work.input) && (usage.seconds ?? measured.seconds) === undefined;
    const made = outputs.filter(({ kind }) => kind !== 'text' || work.scene === 'music').length;
    // A model that was removed from the catalogue has no price. In this case the whole hold is
    // charged.
    const price = model
      ? priceGeneration(model, work.input, usage, made, measured)
      : work.hold_nano_usd;
    const cap_counts = work.counts_list ? 'list' : 'charged';
    const { access, amount, counted } = chargeWith(feeOfTask(this.deps, work), price, cap_counts);
    return {
      id,
      request_id: work.request_id,
      organization_id: work.organization_id,
      key_id: work.key_id,
      scene: work.scene,
      ...access,
      model: work.model,
      model_vendor: model?.owned_by ?? '',
      channel_id: work.channel_id ?? '',
      outcome: 'completed' as const,
      input_tokens: (tokens?.text_input ?? 0) + (tokens?.image_input ?? 0),
      cached_input_tokens: tokens?.cached_input ?? 0,
      cache_write_tokens: 0,
      output_tokens: tokens?.output ?? 0,
      estimated: model?.price.unit === 'token' ? tokens === undefined : isOpen,
      charged_nano_usd: amount,
      overrun_nano_usd: 0,
      ...(counted === amount ? {} : { counted_nano_usd: counted }),
      record: factsOfTask(work, {
        units: unitsOf(work, { outputs, usage }, measured),
        ...(model ? { charge: generationParts(model, work.input, usage, made, measured) } : {}),
        ...(usage.paid_nano_usd === undefined ? {} : { paid_nano_usd: usage.paid_nano_usd }),
      }),
    };
  }
}

/** Returns what a task made, in the units of its scene. A unit is left out if it is not known. */
function unitsOf(
  { input }: Pick<TaskWork, 'input'>,
  { outputs, usage }: ProducedRecord,
  measured: MeasuredVideo,
): Readonly<Record<string, number>> {
  const count = (kind: StoredOutput['kind']) =>
    outputs.filter((output) => output.kind === kind).length;
  const units: Record<GenerationScene, Readonly<Record<string, number | undefined>>> = {
    image: { images: usage.images ?? count('image') },
    video: {
      videos: count('video'),
      seconds:
        usage.seconds ?? measured.seconds ?? (input.scene === 'video' ? input.duration : undefined),
    },
    audio: { seconds: usage.seconds ?? (input.scene === 'audio' ? input.duration : undefined) },
    music: { songs: usage.songs ?? count('audio'), seconds: usage.seconds },
    '3d': { models: count('model') },
  };
  const known = Object.entries(units[input.scene]).filter(([, made]) => made);
  return Object.fromEntries(known) as Record<string, number>;
}

/**
 * Returns the length of all videos together and the resolution of the largest one, as the provider
 * reported them or as Weir measured them in the files. A member is missing if it is not known of every
 * video.
 */
function measuredIn(
  produced: ProducedRecord['outputs'],
  stored: readonly StoredOutput[] | null,
): MeasuredVideo {
  const videos = produced.flatMap((output, index) =>
    output.kind === 'video' ? [{ ...stored?.[index]?.measured, ...output }] : [],
  );
  const seconds = videos.flatMap(({ duration, seconds }) => duration ?? seconds ?? []);
  const edges = videos.flatMap(({ width, height }) => (width && height ? [{ width, height }] : []));
  const [largest] = edges.toSorted((a, b) => b.width * b.height - a.width * a.height);
  const isWhole = (known: readonly unknown[]) => known.length > 0 && known.length === videos.length;
  return {
    ...(isWhole(seconds) ? { seconds: seconds.reduce((sum, each) => sum + each, 0) } : {}),
    ...(largest && isWhole(edges)
      ? { resolution: resolutionOf(largest.width, largest.height) }
      : {}),
  };
}
