package rehearsal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/ui/devlog"
)

// oftenFails is how often a manager must report the same error for it to be a finding: a conflict, or an object that is
// not in the cache yet, is tried again with success.
const oftenFails = 5

// A failure is an error that a manager has logged, and when.
type failure struct {
	manager, text string
	count         int
	first, last   time.Time
}

// goesOn reports whether the error is still there. Managers try again after a time that doubles, so an error that was
// reported last in the first half of the time since then is over.
func (f failure) goesOn(now time.Time) bool {
	return f.count >= oftenFails && f.last.Sub(f.first) >= now.Sub(f.first)/2
}

// failuresOf are the errors in the logs of a revision's managers.
func (u *upgrade) failuresOf(ctx context.Context, of Revision) map[string]failure {
	failures := map[string]failure{}
	for _, o := range of.Objects {
		if !ship.IsWorkload(o) {
			continue
		}
		for _, raw := range u.Cluster.Logs(ctx, o) {
			line := devlog.Parse(raw)
			if line.Level < devlog.Error || line.Time.IsZero() {
				continue
			}
			f := failure{manager: ship.NameOf(o), text: strings.TrimSuffix(line.Message+": "+line.Error, ": "), first: line.Time}
			key := f.manager + "\n" + f.text
			if known, ok := failures[key]; ok {
				f = known
			}
			f.count++
			f.last = line.Time
			failures[key] = f
		}
	}
	return failures
}

// restartsOf is how often containers of a revision's managers were started again.
func (u *upgrade) restartsOf(ctx context.Context, of Revision) (n int) {
	for _, o := range of.Objects {
		if ship.IsWorkload(o) {
			n += u.Cluster.Restarts(ctx, o)
		}
	}
	return n
}

// addFailures adds the errors that a revision's managers report again and again, and that were not there before.
func (u *upgrade) addFailures(ctx context.Context, phase Phase, of Revision) {
	now, failures := time.Now(), u.failuresOf(ctx, of)
	for _, key := range sortedKeys(failures) {
		f := failures[key]
		if !f.goesOn(now) || u.failed[key] {
			continue
		}
		u.failed[key] = true
		if phase != fromPhase {
			u.report.add(Finding{Phase: phase, Class: ManagerFails, Object: f.manager, Text: fmt.Sprintf("%s (%d times)", f.text, f.count), Fatal: true})
		}
	}
}
