import classes from './skeleton.module.css';

/** Grey lines in the place of rows that are loading. */
export function SkeletonRows({ count }: { readonly count: number }) {
  return (
    <div className={classes.rows} role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
        <div key={row} className={classes.row} />
      ))}
    </div>
  );
}

/** A page whose code is loading. */
export function PageSkeleton() {
  return (
    <>
      <div className={classes.header} />
      <SkeletonRows count={12} />
    </>
  );
}
