import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { Organization } from '../../../api/types.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { StateBadge } from '../../../parts/badge.tsx';
import { Copy } from '../../../parts/copy.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Card, Section } from '../../../parts/page.tsx';
import { AccessPage } from '../access-page.tsx';
import { PasswordForm } from './password-form.tsx';
import { Setting } from './setting.tsx';

export const ORGANIZATION_PATH = '/v1/management/organization';

/** How does the organization work? */
export function SettingsPage() {
  const organization = useQuery({
    queryKey: ['organization'],
    queryFn: ({ signal }) => api.getTagged<Organization>(ORGANIZATION_PATH, {}, signal),
  });
  return (
    <AccessPage
      at="/access/settings"
      question="How does this organization work?"
      call={<ApiCall path={ORGANIZATION_PATH} />}
    >
      <Loaded query={organization}>
        {({ value, etag }) => (
          <>
            <Card>
              <Facts
                facts={[
                  ['Organization', <bdi key="name">{value.name}</bdi>],
                  ['Status', <StateBadge key="status" state={value.status} />],
                  ['Why', value.status_reason],
                  ['Id', <Copy key="id" text={value.id} what="id of the organization" />],
                ]}
              />
            </Card>
            <Section title="Settings">
              <div className="grid gap-3">
                {Object.entries(value.settings).map(([name, setting]) => (
                  <Setting key={name} name={name} setting={setting} etag={etag} />
                ))}
              </div>
            </Section>
          </>
        )}
      </Loaded>
      <Section title="Your password">
        <PasswordForm />
      </Section>
    </AccessPage>
  );
}
