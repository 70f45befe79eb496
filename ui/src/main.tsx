import './font.css';
import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createEventChannel } from './api/event-channel.ts';
import { queryClient } from './api/query-client.ts';
import { App } from './app.tsx';
import { EventsContext } from './parts/live-events.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element "root".');
const channel = createEventChannel();

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <EventsContext value={channel}>
        <App />
      </EventsContext>
    </QueryClientProvider>
  </StrictMode>,
);
