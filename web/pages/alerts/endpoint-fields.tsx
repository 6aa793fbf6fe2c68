import { useQuery } from '@tanstack/react-query';
import { Field } from '../../parts/field.tsx';
import { endpointsQuery } from './data.ts';
import { kindName, kindSays, kindsOf } from './kinds.ts';

/** What a person chooses for an endpoint. */
export interface EndpointForm {
  readonly name: string;
  readonly type: 'webhook' | 'mail';
  /** The address of the webhook, or of the mail. */
  readonly target: string;
  /** Undefined means all kinds of the API. */
  readonly kinds: readonly string[] | undefined;
}

/** The fields that show an error of the API. */
export const ENDPOINT_PARAMS = ['name', 'type', 'url', 'email', 'kinds'];

interface EndpointFieldsProps {
  readonly form: EndpointForm;
  readonly onChange: (form: EndpointForm) => void;
  readonly error: unknown;
  /** True while the endpoint is made: later its type does not change. */
  readonly isNew?: boolean;
}

/** The fields of an endpoint. */
export function EndpointFields({ form, onChange, error, isNew = false }: EndpointFieldsProps) {
  const isMail = form.type === 'mail';
  return (
    <>
      {isNew ? (
        <Field
          label="Send by"
          param="type"
          error={error}
          why="A webhook is for programs, e.g. of the people on call. A mail has the same words."
        >
          <select
            className="control"
            value={form.type}
            onChange={({ target }) =>
              onChange({ ...form, type: target.value === 'mail' ? 'mail' : 'webhook' })
            }
          >
            <option value="webhook">Webhook</option>
            <option value="mail">Mail</option>
          </select>
        </Field>
      ) : null}
      <Field label="Name" param="name" error={error} why="What people call the receiver.">
        <input
          className="control"
          required
          maxLength={60}
          placeholder="On call"
          value={form.name}
          onChange={({ target }) => onChange({ ...form, name: target.value })}
        />
      </Field>
      <Field
        label={isMail ? 'E-mail' : 'URL'}
        param={isMail ? 'email' : 'url'}
        error={error}
        why={
          isMail
            ? 'Weir does not ask the address whether it wants alerts.'
            : 'A public https address. Weir checks it at each connection.'
        }
      >
        <input
          className="control"
          type={isMail ? 'email' : 'url'}
          required
          placeholder={isMail ? 'ops@example.com' : 'https://ops.example.com/weir'}
          value={form.target}
          onChange={({ target }) => onChange({ ...form, target: target.value })}
        />
      </Field>
      <Kinds form={form} onChange={onChange} />
    </>
  );
}

function Kinds({ form, onChange }: Pick<EndpointFieldsProps, 'form' | 'onChange'>) {
  const { data = [] } = useQuery(endpointsQuery);
  const all = kindsOf(data);
  const { kinds } = form;
  const toggle = (kind: string) => {
    const chosen = kinds ?? all;
    const next = chosen.includes(kind) ? chosen.filter((each) => each !== kind) : [...chosen, kind];
    onChange({ ...form, kinds: next });
  };
  return (
    <fieldset className="grid gap-1">
      <legend className="mb-1 font-medium">Alerts</legend>
      {all.map((kind) => (
        <label key={kind} className="flex items-baseline gap-2">
          <input
            type="checkbox"
            checked={kinds === undefined || kinds.includes(kind)}
            onChange={() => toggle(kind)}
          />
          <span>
            <span className="font-medium">{kindName(kind)}</span>{' '}
            <span className="text-soft">{kindSays(kind)}</span>
          </span>
        </label>
      ))}
      <p className="text-sm text-soft">Each alert comes once for its cause.</p>
    </fieldset>
  );
}

/** The member of the API that has the address. */
export const targetOf = ({ type, target }: EndpointForm): object =>
  type === 'mail' ? { email: target.trim() } : { url: target.trim() };
