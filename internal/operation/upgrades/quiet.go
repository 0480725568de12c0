package upgrades

import (
	"sync"

	"github.com/slipway-dev/slipway/internal/report"
)

// quiet passes on what goes on and what may be wrong, once, but none of the results of the verbs that a rehearsal
// consists of: it deploys three times.
type quiet struct {
	handler report.Handler

	mu   sync.Mutex
	said map[string]bool
}

// Handle implements [report.Handler].
func (q *quiet) Handle(e report.Event) {
	switch e := e.(type) {
	case report.Step, report.Progress, report.Detail, report.Finding:
		q.handler.Handle(e)
	case report.Warning:
		if q.isNew(e.Text) {
			q.handler.Handle(e)
		}
	}
}

// isNew reports whether a text comes for the first time.
func (q *quiet) isNew(text string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.said == nil {
		q.said = map[string]bool{}
	}
	known := q.said[text]
	q.said[text] = true
	return !known
}
