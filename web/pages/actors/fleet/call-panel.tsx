import type { CallInFlight } from '../../../api/types.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Copy } from '../../../parts/copy.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { GoLink } from '../../../parts/go-link.tsx';
import { Money } from '../../../parts/money.tsx';
import { Card } from '../../../parts/page.tsx';
import { duration } from '../../../parts/time.tsx';
import { toneOf } from '../tones.ts';

/** What a call does in each stage, for people. */
const STAGES: Readonly<Record<string, string>> = {
  admitting: 'Weir checks the key and reserves money',
  reserved: 'the money is reserved; Weir chooses a channel',
  calling: 'the provider has the call and sent nothing yet',
  answering: 'the provider answers',
};

interface CallPanelProps {
  readonly call: CallInFlight;
  readonly keyName: (id: string) => string;
}

/** One call of the river, with the actors that have it. */
export function CallPanel({ call, keyName }: CallPanelProps) {
  const { request_id, api_key_id, stage, age_ms, logical_model, held, charged } = call;
  const { channel_id, circuit } = call;
  const actor = (kind: string, id: string) => `/actors/${kind}/${encodeURIComponent(id)}`;
  return (
    <Card>
      <Facts
        facts={[
          ['Request', <Copy key="id" text={request_id} what="request id" />],
          ['Then', `${stage}: ${STAGES[stage] ?? ''}`],
          ['For', duration(age_ms)],
          ['Model', logical_model],
          ['Held', held === null ? null : <Money key="held" usd={held} />],
          ['Charged at its end', charged === null ? null : <Money key="charged" usd={charged} />],
          [
            'Key',
            <span key="key" className="flex flex-wrap gap-x-3">
              <GoLink to={`/keys/${api_key_id}`}>{keyName(api_key_id)}</GoLink>
              <GoLink to={actor('quota', api_key_id)}>Its quota</GoLink>
            </span>,
          ],
          [
            'Channel',
            channel_id && (
              <span key="channel" className="flex flex-wrap items-baseline gap-x-3">
                <GoLink to={actor('channel', `${channel_id}/${logical_model}`)}>
                  {channel_id}
                </GoLink>
                {circuit ? <Badge tone={toneOf('channel', circuit)}>{circuit}</Badge> : null}
              </span>
            ),
          ],
          [
            'Its way',
            charged === null ? (
              'is recorded when it ends'
            ) : (
              <GoLink key="way" to={`/actors/request/${request_id}`}>
                through the actors
              </GoLink>
            ),
          ],
        ]}
      />
    </Card>
  );
}
