package devloop

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui/devlog"
)

// linesPatience bounds how long the end of the loop waits for the last lines.
const linesPatience = time.Second

// recordLines has the manager's log in the record of the session's cluster, until endLines.
func (p *project) recordLines(ctx context.Context) {
	p.endLines()
	lines := p.around.Load().Lines(ctx, filepath.Base(p.root))
	if lines != nil {
		p.around.Load().Observe()
	}
	p.lines.Store(lines)
}

func (p *project) endLines() {
	ctx, cancel := context.WithTimeout(context.Background(), linesPatience)
	defer cancel()
	p.lines.Swap(nil).Close(ctx)
}

// recording passes all events on, and puts the lines of the manager into the record. Lines that it logs only because it
// is observed are not passed on; those with which reconciles begin and end are recorded.
func (p *project) recording(h report.Handler) report.Handler {
	return report.HandlerFunc(func(e report.Event) {
		if o, ok := e.(report.Output); ok && o.Part == report.ManagerPart {
			l := devlog.Parse(o.Text)
			around := p.around.Load()
			extra := around != nil && around.Observes() && !l.IsUsual()
			if lines := p.lines.Load(); lines != nil && (!extra || l.Phase() != devlog.Within || l.Trace != "") {
				lines.Put(recordedLine(l, o.Text, p.user()))
			}
			if extra {
				return
			}
		}
		h.Handle(e)
	})
}

// user is whose rights the manager has; empty for those of the kubeconfig.
func (p *project) user() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settings.As != AsManager || p.access.Account == "" {
		return ""
	}
	return p.access.User()
}

// recordedLine is a line of a log as the record has it. The object has no resource: the controller says it.
func recordedLine(l devlog.Line, text, user string) clusterctl.OperatorLine {
	line := clusterctl.OperatorLine{At: time.Now(), Controller: l.Source(), Reconcile: l.Reconcile, Text: text, User: user, Trace: l.Trace}
	if l.Level != devlog.Unknown {
		line.Level = strings.ToLower(l.Level.String())
	}
	if l.Object != "" {
		namespace, name, ok := strings.Cut(l.Object, "/")
		if !ok {
			namespace, name = "", l.Object
		}
		line.Object = &protocol.RecordObject{Group: l.Group, Kind: l.Kind, Namespace: namespace, Name: cmp.Or(name, l.Object)}
	}
	return line
}
