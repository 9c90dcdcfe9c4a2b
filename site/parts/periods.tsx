/** Selects one of a few choices: the time that a chart covers, or its figures. */
export const Periods = <Period extends string>({
  legend = 'Period',
  choices,
  value,
  set,
}: {
  legend?: string;
  choices: readonly (readonly [period: Period, name: string])[];
  value: Period;
  set: (period: Period) => void;
}) => (
  <fieldset class="periods">
    <legend class="unseen">{legend}</legend>
    {choices.map(([period, name]) => (
      <button
        type="button"
        class="quiet small"
        aria-pressed={period === value ? 'true' : 'false'}
        onClick={() => set(period)}
      >
        {name}
      </button>
    ))}
  </fieldset>
);
