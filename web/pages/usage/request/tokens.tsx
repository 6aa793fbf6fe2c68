import type { Call } from '../../../api/types.ts';
import { count } from '../../../parts/figures.ts';

/** The tokens of a call by their kind. A kind that is a part of another stands below it. */
export function Tokens({ usage }: { usage: Call['usage'] }) {
  const kinds = [
    ['Input', usage.input_tokens, false],
    ['audio', usage.audio_tokens, true],
    ['Input from the cache', usage.cached_input_tokens, false],
    ['Input written to the cache', usage.cache_write_tokens, false],
    ['Output', usage.output_tokens, false],
    ['reasoning', usage.reasoning_tokens, true],
  ] as const;
  const shown = kinds.filter(([name, value]) => value > 0 || name === 'Input' || name === 'Output');
  const units = Object.entries(usage.units);
  return (
    <>
      <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-y-1.5">
        {shown.map(([name, value, isPart]) => (
          <div key={name} className="contents">
            <dt className={isPart ? 'pl-4 text-soft' : ''}>{isPart ? `of these ${name}` : name}</dt>
            <dd className={`text-right figures ${isPart ? 'text-soft' : ''}`}>{count(value)}</dd>
          </div>
        ))}
        {units.map(([name, value]) => (
          <div key={name} className="contents">
            <dt>{name.replaceAll('_', ' ')}</dt>
            <dd className="text-right figures">{value.toLocaleString()}</dd>
          </div>
        ))}
      </dl>
      {usage.estimated ? (
        <p className="mt-3 text-sm text-soft">
          Weir counted these tokens itself, because the provider said nothing of them.
        </p>
      ) : null}
    </>
  );
}
