import type { Child } from 'hono/jsx';

export type FieldProps = {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly hint?: Child;
  /** The fault in the value, and the correct form. */
  readonly wrong?: string | null;
  readonly unit?: string;
  /** Keyboard type on a phone. */
  readonly keys?: 'decimal' | 'numeric' | 'text' | 'url';
  readonly rows?: number;
  readonly optional?: boolean;
  /** Whether a button fills it from the clipboard. */
  readonly paste?: boolean;
};

const typed = (event: Event): string => {
  const { target } = event;
  return target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
    ? target.value
    : '';
};

/** A browser that refuses to read the clipboard leaves the cursor in the field, for its own paste command. */
function PasteButton({ id, set }: Pick<FieldProps, 'id' | 'set'>) {
  const paste = async (): Promise<void> => {
    try {
      set((await navigator.clipboard.readText()).trim());
    } catch {
      document.getElementById(id)?.focus();
    }
  };
  return (
    <button type="button" class="quiet" onClick={paste}>
      Paste
    </button>
  );
}

/** A text field of one or more lines, with its label, hint and error linked to it. */
export function Field({
  id,
  label,
  value,
  set,
  hint,
  wrong,
  unit,
  keys = 'text',
  rows,
  optional,
  paste,
}: FieldProps) {
  const describedBy = [hint ? `${id}-hint` : '', wrong ? `${id}-wrong` : ''].filter(Boolean).join(' ');
  const shared = {
    id,
    value,
    onInput: (event: Event) => set(typed(event)),
    autocomplete: 'off',
    spellcheck: false,
    ...(describedBy ? { 'aria-describedby': describedBy } : {}),
    ...(wrong ? { 'aria-invalid': 'true' as const } : {}),
  };
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional ? <span class="fine"> (optional)</span> : null}
      </label>
      {rows === undefined ? (
        <span class={unit ? 'with-unit' : paste ? 'with-button' : ''}>
          <input type="text" inputmode={keys} {...shared} />
          {unit ? <span>{unit}</span> : null}
          {paste ? <PasteButton id={id} set={set} /> : null}
        </span>
      ) : (
        <textarea rows={rows} {...shared} />
      )}
      {hint ? (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      ) : null}
      {wrong ? (
        <span class="wrong" id={`${id}-wrong`}>
          {wrong}
        </span>
      ) : null}
    </div>
  );
}

export const Check = ({
  id,
  label,
  hint,
  on,
  set,
}: {
  id: string;
  label: string;
  hint?: Child;
  on: boolean;
  set: (on: boolean) => void;
}) => (
  <div class="check">
    <input
      type="checkbox"
      id={id}
      checked={on}
      onChange={(event: Event) => set(event.target instanceof HTMLInputElement && event.target.checked)}
      {...(hint ? { 'aria-describedby': `${id}-hint` } : {})}
    />
    <label for={id}>{label}</label>
    {hint ? (
      <span class="hint" id={`${id}-hint`}>
        {hint}
      </span>
    ) : null}
  </div>
);

export const Choice = ({
  id,
  label,
  value,
  set,
  options,
  hint,
}: {
  id: string;
  label: string;
  value: string;
  set: (value: string) => void;
  options: readonly (readonly [string, string])[];
  hint?: string;
}) => (
  <div class="field">
    <label for={id}>{label}</label>
    <select
      id={id}
      onChange={(event: Event) => set(typed(event))}
      {...(hint ? { 'aria-describedby': `${id}-hint` } : {})}
    >
      {options.map(([option, name]) => (
        <option value={option} selected={option === value}>
          {name}
        </option>
      ))}
    </select>
    {hint ? (
      <span class="hint" id={`${id}-hint`}>
        {hint}
      </span>
    ) : null}
  </div>
);

/** A form whose submit stays on the page. */
export const Form = ({
  id,
  label,
  submit,
  children,
}: {
  /** For a submit button outside the form. */
  id?: string;
  label: string;
  submit: () => void;
  children?: Child;
}) => (
  <form
    {...(id === undefined ? {} : { id })}
    aria-label={label}
    novalidate
    onSubmit={(event: Event) => {
      event.preventDefault();
      submit();
    }}
  >
    {children}
  </form>
);
