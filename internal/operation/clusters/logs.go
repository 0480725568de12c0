package clusters

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// Logs are which entries of a cluster's logs to print.
type Logs = clusterctl.LogOptions

// LogComponents lists the components of a cluster that log.
func LogComponents() []string { return clusterctl.Components() }

// PrintLogs answers with each entry of a cluster's logs.
func PrintLogs(ctx context.Context, s *operation.Session, l Logs) error {
	l.Name = ResolveName(s, l.Name)
	return clusterctl.New(s.Getenv, s.Handler).Logs(ctx, l, func(e clusterctl.LogEntry) {
		s.Handler.Handle(report.Result{Text: logLine(e, l.Component == ""), Value: e})
	})
}

// logLine is an entry as people read it; named says to name its component.
func logLine(e clusterctl.LogEntry, named bool) string {
	if named {
		return fmt.Sprintf("%s %s %-11s %s", e.Time, e.Level, e.Component, e.Message)
	}
	return e.Time + " " + e.Level + " " + e.Message
}
