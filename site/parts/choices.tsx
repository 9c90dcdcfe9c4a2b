/** Buttons that select one of a few views, such as the period of a chart. */
export const Choices = <Choice extends string>({
  legend,
  choices,
  value,
  set,
}: {
  legend: string;
  choices: readonly (readonly [choice: Choice, name: string])[];
  value: Choice;
  set: (choice: Choice) => void;
}) => (
  <fieldset class="choices">
    <legend class="unseen">{legend}</legend>
    {choices.map(([choice, name]) => (
      <button
        type="button"
        class="quiet small"
        aria-pressed={choice === value ? 'true' : 'false'}
        onClick={() => set(choice)}
      >
        {name}
      </button>
    ))}
  </fieldset>
);
