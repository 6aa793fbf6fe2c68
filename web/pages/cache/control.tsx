import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Organization } from '../../api/types.ts';
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
  const settings = Object.entries(organization.data?.value.settings ?? {}).filter(([name]) =>
    name.startsWith(OF_CACHE),
  );
  const mayPurge = useHere().may('cache.purge');
  if (settings.length === 0 && !mayPurge) return null;
  return (
    <Section title="Control">
      <div className="grid gap-3">
        {settings.map(([name, setting]) => (
          <Setting key={name} name={name} setting={setting} etag={organization.data?.etag} />
        ))}
        {mayPurge ? <Purge /> : null}
      </div>
    </Section>
  );
}
