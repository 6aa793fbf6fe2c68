import { Field, isShownBeside } from '../parts/field.tsx';

/** The most characters of a name or a value. */
const MAX_CHARS = 512;

/** A tag as a person types it. */
export interface TagForm {
  readonly name: string;
  readonly value: string;
}

/** The names that the tag may have in errors of the API: the tag, or its one member. */
export const tagParams = ({ name }: TagForm): string[] => ['tag', `tag.${name.trim()}`];

interface TagFieldsProps {
  readonly tag: TagForm;
  readonly onChange: (tag: TagForm) => void;
  readonly error: unknown;
}

/** The name and the value of a tag. */
export function TagFields({ tag, onChange, error }: TagFieldsProps) {
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <Field
        label="Name of the tag"
        param={tagParams(tag).find((param) => isShownBeside(error, [param]))}
        error={error}
        why="A name in the metadata of calls, or in call_tags of a key."
      >
        <input
          className="control"
          required
          maxLength={MAX_CHARS}
          placeholder="team"
          autoComplete="off"
          value={tag.name}
          onChange={({ target }) => onChange({ ...tag, name: target.value })}
        />
      </Field>
      <Field label="Value" why="Only calls with exactly this value count.">
        <input
          className="control"
          maxLength={MAX_CHARS}
          placeholder="blue"
          autoComplete="off"
          value={tag.value}
          onChange={({ target }) => onChange({ ...tag, value: target.value })}
        />
      </Field>
    </div>
  );
}
