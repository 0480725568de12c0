package clusterctl

import (
	"context"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/clusterctl/kubecontext"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/report"
)

// adopt enters a ready cluster into the user's kubeconfig and remembers that. A cluster that runs may have been entered
// into others already, which stay: each is for its own KUBECONFIG.
func (c *Control) adopt(ctx context.Context, cl state.Cluster, run state.Run) error {
	files, err := kubecontext.Files(c.getenv)
	if err != nil {
		return err
	}
	name := ContextName(cl.Name)
	change, err := kubecontext.Add(ctx, files, name, cl.Kubeconfig())
	if err != nil {
		return err
	}
	run.Contexts = entered(run.Contexts, state.Context{Name: name, Files: files, Selected: change.Selected, Previous: change.Previous})
	return cl.WriteRun(run)
}

// entered adds to what was entered into kubeconfigs. A context that was selected already has selected nothing new: what
// was current before it stays known.
func entered(all []state.Context, now state.Context) []state.Context {
	again := func(c state.Context) bool { return c.Selected == now.Selected && slices.Equal(c.Files, now.Files) }
	if now.Previous == now.Name {
		now.Previous = ""
		for _, c := range all {
			if c.Selected == now.Selected || c.Selected == "" && slices.Contains(c.Files, now.Selected) {
				now.Previous = c.Previous
			}
		}
	}
	return append(slices.DeleteFunc(slices.Clone(all), again), now)
}

// leave takes a cluster's context out of all kubeconfigs that it was entered into. One that
// cannot be changed keeps no cluster from ending.
func (c *Control) leave(ctx context.Context, cl state.Cluster, run state.Run) error {
	var changes []kubecontext.Change
	for _, entry := range c.contexts(cl, run) {
		changes = append(changes, kubecontext.Change{Files: entry.Files, Selected: entry.Selected, Previous: entry.Previous})
	}
	name := ContextName(cl.Name)
	err := kubecontext.Remove(ctx, name, changes)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		c.handler.Handle(report.Warning{Text: fmt.Sprintf("context %s stays in the kubeconfig: %v; `slipway kubectl config delete-context %[1]s` removes it", name, err)})
	}
	return nil
}

// contexts are those that the cluster was entered under. When what was remembered of its start is lost, they are
// looked for where a start would enter one now.
func (c *Control) contexts(cl state.Cluster, run state.Run) []state.Context {
	if !run.Started.IsZero() {
		return run.Contexts
	}
	files, err := kubecontext.Files(c.getenv)
	if err != nil {
		return nil
	}
	return []state.Context{{Name: ContextName(cl.Name), Files: files}}
}

// checkContexts refuses kubeconfig files that [Control.adopt] could not use, before
// anything is built or started for them.
func (c *Control) checkContexts() error {
	files, err := kubecontext.Files(c.getenv)
	if err != nil {
		return err
	}
	return kubecontext.Check(files)
}
