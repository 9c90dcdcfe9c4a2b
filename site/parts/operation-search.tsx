import { useState } from 'hono/jsx';
import { Field } from './field.tsx';
import { counted } from './format.ts';

/** Hides every operation without all the words, and every area whose operations are all hidden; opens the others. */
function showMatching(words: readonly string[]): number {
  let shown = 0;
  for (const area of document.querySelectorAll<HTMLElement>('.area')) {
    const operations = [...area.querySelectorAll<HTMLElement>('.operation')];
    for (const operation of operations) {
      const { search = '' } = operation.dataset;
      operation.hidden = !words.every((word) => search.includes(word));
    }
    const visible = operations.filter(({ hidden }) => !hidden).length;
    area.hidden = visible === 0;
    const folded = area.querySelector('details');
    if (folded !== null) folded.open = words.length > 0;
    shown += visible;
  }
  return shown;
}

export function OperationSearch() {
  const [text, setText] = useState('');
  const [shown, setShown] = useState<number | null>(null);
  const find = (typed: string): void => {
    setText(typed);
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const count = showMatching(words);
    setShown(words.length === 0 ? null : count);
  };
  return (
    <>
      <Field
        id="find"
        label="Find an operation"
        value={text}
        set={find}
        hint="For example swap, claim or limit"
      />
      <p class="fine" role="status">
        {shown === null
          ? ''
          : shown === 0
            ? 'No operation matches.'
            : `${counted(shown, 'operation')} found.`}
      </p>
    </>
  );
}
