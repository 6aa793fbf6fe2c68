import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Organization } from '../../api/types.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { useHere } from '../../shell/here.ts';
import { Setting } from '../access/settings/setting.tsx';
import { Purge } from './purge.tsx';

/** The start of the names of the settings that are about the cache. */
const OF_CACHE = 'cache_';

/** What an organization says about its cache. */
export function Control() {
  const organization = useQuery({
    queryKey: ['organization'],
    queryFn: ({ signal }) => api.getTagged<Organization>('/v1/management/organization', {}, signal),
  });
  return (
    <Section title="Control">
      <div className="grid gap-3">
        <Loaded query={organization}>
          {({ value, etag }) =>
            Object.entries(value.settings)
              .filter(([name]) => name.startsWith(OF_CACHE))
              .map(([name, setting]) => (
                <Setting key={name} name={name} setting={setting} etag={etag} />
              ))
          }
        </Loaded>
        {useHere().may('cache.write') ? <Purge /> : null}
      </div>
    </Section>
  );
}
