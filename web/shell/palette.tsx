import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { useState } from 'react';
import type { Here } from '../api/session.ts';
import { Dialog } from '../parts/dialog.tsx';
import { placesFor } from './places.ts';
import { useTheme } from './theme.ts';

/** What looks like an id of Weir, e.g. `req-…` or a UUID. It is found by `/go/{id}`. */
const ID = /^[a-z]{1,12}[-_][\w-]{6,}$|^[0-9a-f]{8}-[0-9a-f-]{27}$/i;

interface PaletteProps {
  readonly here: Here;
  readonly onClose: () => void;
  readonly signOut: () => void;
}

/** ⌘K: goes anywhere, finds any id, and does the acts that need no page. */
export function Palette({ here, onClose, signOut }: PaletteProps) {
  const navigate = useNavigate();
  const { next, choose } = useTheme();
  const [text, setText] = useState('');
  const go = (to: string, search: Readonly<Record<string, unknown>> = {}) => {
    onClose();
    navigate({ to, search });
  };
  const id = text.trim();
  return (
    <Dialog title="Go anywhere" onClose={onClose}>
      <Command label="Go anywhere" loop>
        <Command.Input
          autoFocus
          value={text}
          onValueChange={setText}
          placeholder="A page, an act, or any id"
          className="control"
        />
        <Command.List className="mt-2 max-h-80 overflow-y-auto">
          <Command.Empty className="px-3 py-2 text-soft">
            Nothing has this name. Paste an id to open what it belongs to.
          </Command.Empty>
          {ID.test(id) ? (
            <Item
              label={`Open ${id}`}
              value={id}
              onSelect={() => go(`/go/${encodeURIComponent(id)}`)}
            />
          ) : null}
          {placesFor(here)
            .flat()
            .map(({ to, title, says }) => (
              <Item
                key={to}
                label={title}
                value={`${title} ${says}`}
                note={says}
                onSelect={() => go(to)}
              />
            ))}
          {here.may('keys.write') ? (
            <Item
              label="Create an API key"
              value="create an api key"
              onSelect={() => go('/keys', { create: true })}
            />
          ) : null}
          {here.may('people.write') ? (
            <Item
              label="Invite a person"
              value="invite a person"
              onSelect={() => go('/access/people', { invite: true })}
            />
          ) : null}
          <Item
            label={`Use the ${next} theme`}
            value={`theme ${next} dark light`}
            onSelect={() => {
              choose(next);
              onClose();
            }}
          />
          <Item label="Sign out" value="sign out" onSelect={signOut} />
        </Command.List>
      </Command>
    </Dialog>
  );
}

interface ItemProps {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
  readonly onSelect: () => void;
}

function Item({ label, value, note, onSelect }: ItemProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex cursor-pointer flex-wrap items-baseline gap-x-3 rounded-control px-3 py-1.5 data-[selected=true]:bg-accent-soft"
    >
      <span>{label}</span>
      {note === undefined ? null : <span className="text-sm text-soft">{note}</span>}
    </Command.Item>
  );
}
