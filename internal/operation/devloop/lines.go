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

// recordLines has the manager's log in the cluster's record, until the function that it returns is called.
func (p *project) recordLines(ctx context.Context) (end func()) {
	lines := p.around.Load().Lines(ctx, filepath.Base(p.root))
	p.lines.Store(lines)
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), linesPatience)
		defer cancel()
		lines.Close(ctx)
	}
}

// recording passes all events on, and puts the lines of the manager into the record.
func (p *project) recording(h report.Handler) report.Handler {
	return report.HandlerFunc(func(e report.Event) {
		if o, ok := e.(report.Output); ok && o.Part == report.ManagerPart {
			if lines := p.lines.Load(); lines != nil {
				lines.Put(recordedLine(o.Text))
			}
		}
		h.Handle(e)
	})
}

// recordedLine is a line of a log as the record has it. The object has no resource: the controller says it.
func recordedLine(text string) clusterctl.OperatorLine {
	l := devlog.Parse(text)
	line := clusterctl.OperatorLine{At: time.Now(), Controller: l.Source(), Reconcile: l.Reconcile, Text: text}
	if l.Level != devlog.Unknown {
		line.Level = strings.ToLower(l.Level.String())
	}
	if l.Object != "" {
		namespace, name, ok := strings.Cut(l.Object, "/")
		if !ok {
			namespace, name = "", l.Object
		}
		line.Object = &protocol.RecordObject{Namespace: namespace, Name: cmp.Or(name, l.Object)}
	}
	return line
}
