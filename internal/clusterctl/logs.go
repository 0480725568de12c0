package clusterctl

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/logfile"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/spelling"
)

// Components are the parts of a cluster that have a log.
func Components() []string { return []string{"etcd", "apiserver", "controllers", "scheduler", "nodes"} }

// LogEntry is one entry of a component's log.
type LogEntry = logfile.Entry

// LogOptions say which part of which logs to report.
type LogOptions struct {
	Name      string // of the cluster; empty: DefaultName
	Component string // empty: all of them, merged by time
	Tail      int    // how many of the last entries to begin with; negative: all
	Follow    bool   // go on until the cluster ends
}

const (
	followPoll = 100 * time.Millisecond
	// alivePoll is in polls how often it is looked whether the cluster still runs.
	alivePoll = 10
)

// Logs reports what a cluster's components have logged since its last start, also
// when it does not run any more. With Follow it returns when the cluster has ended.
func (c *Control) Logs(ctx context.Context, o LogOptions, tell func(LogEntry)) error {
	cl, components, err := c.logged(o)
	if err != nil {
		return err
	}
	logs := logfile.Of(cl.Logs(), components...)
	entries, err := logs.Read()
	if err != nil {
		return err
	}
	if o.Tail >= 0 {
		entries = entries[max(0, len(entries)-o.Tail):]
	}
	for _, e := range entries {
		tell(e)
	}
	if !o.Follow {
		return nil
	}
	return follow(ctx, cl, logs, tell)
}

// logged checks what Logs is asked for.
func (c *Control) logged(o LogOptions) (cl state.Cluster, components []string, err error) {
	components = Components()
	o.Component = cmp.Or(programs[o.Component], o.Component)
	if o.Component != "" {
		if !slices.Contains(components, o.Component) {
			return cl, nil, unknownComponent(o.Component, components)
		}
		components = []string{o.Component}
	}
	if cl, err = c.cluster(o.Name); err != nil {
		return cl, nil, err
	}
	if _, err := os.Stat(cl.Logs()); err != nil {
		return cl, nil, &report.Error{What: "cluster " + cl.Name + " has no logs", Where: cl.Logs(),
			Hint: "logs exist only after its first start", Next: command("start", cl.Name)}
	}
	return cl, components, nil
}

// programs are the components by the names of the programs that they are in other clusters.
var programs = map[string]string{
	"kube-apiserver": "apiserver", "kube-controller-manager": "controllers", "kube-scheduler": "scheduler", "kubelet": "nodes",
}

func unknownComponent(name string, known []string) error {
	e := &report.Error{What: "unknown component " + name, Code: report.UsageCode,
		Hint: "components are " + strings.Join(known, ", ") + "; --cluster names the cluster"}
	if near := spelling.Nearest(name, known, min(3, len(name)-1)); near != "" {
		e.Hint, e.Next = "did you mean "+near+"?", "slipway cluster logs "+near
	}
	return e
}

// follow tells what is added to the logs until the cluster ends.
func follow(ctx context.Context, cl state.Cluster, logs *logfile.Logs, tell func(LogEntry)) error {
	tick := time.NewTicker(followPoll)
	defer tick.Stop()
	for polls := 0; ; polls++ {
		ended := polls%alivePoll == 0 && !runs(cl) // before reading: so the last words are not missed
		entries, err := logs.Read()
		if err != nil {
			return err
		}
		for _, e := range entries {
			tell(e)
		}
		if ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// runs tells whether the cluster runs, or is being started or stopped.
func runs(cl state.Cluster) bool {
	release, free, err := cl.TryWatch()
	if err != nil || !free {
		return true
	}
	defer release()
	alive, err := cl.Alive()
	return err != nil || alive
}
