import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { Shell } from './frame/shell.tsx';
import { ToolsPage } from './pages/tools/tools-page.tsx';
import { NotFound } from './parts/empty.tsx';

const ToolPage = lazy(() => import('./pages/tool/tool-page.tsx').then(({ ToolPage }) => ({ default: ToolPage })));
const ApprovalsPage = lazy(() =>
  import('./pages/approvals/approvals-page.tsx').then(({ ApprovalsPage }) => ({ default: ApprovalsPage })),
);
const CallsPage = lazy(() => import('./pages/calls/calls-page.tsx').then(({ CallsPage }) => ({ default: CallsPage })));
const SourcesPage = lazy(() =>
  import('./pages/sources/sources-page.tsx').then(({ SourcesPage }) => ({ default: SourcesPage })),
);

/** The pages by address. Every page, its filters and its open detail are in the address. */
export function App() {
  return (
    <Shell>
      <Suspense fallback={null}>
        <Switch>
          <Route path="/">
            <Redirect to="/tools" />
          </Route>
          <Route path="/tools" component={ToolsPage} />
          <Route path="/tools/:name">{({ name }) => <ToolPage name={decodeURIComponent(name)} />}</Route>
          <Route path="/approvals/:id?">{({ id }) => <ApprovalsPage id={id} />}</Route>
          <Route path="/calls/:id?">{({ id }) => <CallsPage id={id} />}</Route>
          <Route path="/sources/:id?">{({ id }) => <SourcesPage id={id} />}</Route>
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  );
}
