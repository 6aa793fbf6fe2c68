import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CallDetail } from '../../../api/types.ts';
import { Copy } from '../../../parts/copy.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Money } from '../../../parts/money.tsx';
import { duration, Time } from '../../../parts/time.tsx';
import { KeyName } from '../key-name.tsx';

const MS_PER_S = 1_000;

interface CallFactsProps {
  readonly call: CallDetail;
  readonly names: ReadonlyMap<string, string> | undefined;
}

/** Who called what, and what belongs to the call. */
export function CallFacts({ call, names }: CallFactsProps) {
  const tags = Object.entries(call.metadata);
  return (
    <Facts
      facts={[
        ['Arrived', <Time key="at" at={call.date} />],
        [
          'API key',
          <To key="key" path={`/keys/${call.api_key_id}`}>
            <KeyName id={call.api_key_id} names={names} />
          </To>,
        ],
        [
          'Model',
          call.logical_model && (
            <To path={`/models/${encodeURIComponent(call.logical_model)}`}>{call.logical_model}</To>
          ),
        ],
        ['Asked for', call.moved_from],
        ['Warnings', call.warnings && <Warnings warnings={call.warnings} />],
        ['Vendor', call.model_vendor],
        ['Scene', call.scene],
        ['Protocol', call.protocol && `${call.protocol}${call.stream ? ', as a stream' : ''}`],
        ['Program', call.program && <bdi>{call.program}</bdi>],
        ['Access channel', call.access_channel === 'byok' ? 'your own provider key' : 'platform'],
        ['Attempts', call.attempts],
        ...cacheFacts(call),
        [
          'First token after',
          call.time_to_first_token_ms === null ? null : duration(call.time_to_first_token_ms),
        ],
        [
          'Task',
          call.task_id && (
            <To path={`/tasks/${call.task_id}`}>
              <code className="text-[0.85em]">{call.task_id}</code>
            </To>
          ),
        ],
        [
          'Batch',
          call.message_batch_id && (
            <To path={`/batches/${call.message_batch_id}`}>
              <code className="text-[0.85em]">{call.message_batch_id}</code>
            </To>
          ),
        ],
        ['End user', call.user && <bdi>{call.user}</bdi>],
        [
          'Metadata',
          tags.length > 0 && (
            <ul>
              {tags.map(([name, value]) => (
                <li key={name}>
                  <span className="text-soft">
                    <bdi>{name}</bdi>:
                  </span>{' '}
                  <bdi>{String(value)}</bdi>
                </li>
              ))}
            </ul>
          ),
        ],
        ['Request id', <Copy key="id" text={call.request_id} what="request id" />],
      ]}
    />
  );
}

/** The soft budgets and limits that the call exceeded. */
function Warnings({ warnings }: { warnings: NonNullable<CallDetail['warnings']> }) {
  return (
    <ul>
      {warnings.map(({ type, budget_id, period, model, not_moved }) => (
        <li key={`${type} ${budget_id} ${model}`}>
          {type === 'budget' ? `budget of a ${period} is reached` : `${type} is reached`}
          {model && ` for ${model}`}
          {not_moved && `; not moved: ${not_moved === 'not_able' ? 'not able' : 'not cheaper'}`}
        </li>
      ))}
    </ul>
  );
}

/** What the cache did, if the call looked for its answer there. */
function cacheFacts(call: CallDetail): readonly [name: string, value: ReactNode][] {
  const { cache, cache_entry_id, cache_age_s: age_s, saved } = call;
  if (cache === null) return [];
  if (cache === 'miss') return [['Cache', 'miss: no earlier answer to the same request']];
  const age = age_s === undefined ? '' : `, ${duration(age_s * MS_PER_S)} old`;
  return [
    ['Cache', `hit: an earlier answer was sent again${age}`],
    [
      'Entry of the cache',
      cache_entry_id && <Copy key="entry" text={cache_entry_id} what="id of the cache entry" />,
    ],
    ['Saved', <Money key="saved" usd={saved} />],
  ];
}

function To({ path, children }: { path: string; children: ReactNode }) {
  return (
    <Link to={path} className="text-accent underline decoration-line underline-offset-2">
      {children}
    </Link>
  );
}
