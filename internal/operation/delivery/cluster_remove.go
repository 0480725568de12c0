package delivery

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/addon"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// A Subtraction names the add-on to remove from an embedded cluster.
type Subtraction struct {
	Addon   string
	Cluster string
	Yes     bool          // delete CRDs that have objects, without a prompt
	Timeout time.Duration // for the objects to be gone
}

// RemovedAddon is the result of [Remove]; the JSON form is stable.
type RemovedAddon struct {
	Cluster string `json:"cluster"`
	Addon   string `json:"addon"`
	Removed int    `json:"removed"`
}

// Remove removes an add-on from an embedded cluster, with all objects of its kinds. It deletes only objects in the
// inventory that [Add] left in the cluster; those of other tools stay.
func Remove(ctx context.Context, s *operation.Session, r Subtraction) (RemovedAddon, error) {
	if r.Timeout < 0 {
		return RemovedAddon{}, negativeTimeout()
	}
	chosen, err := addon.Find(r.Addon)
	if err != nil {
		return RemovedAddon{}, err
	}
	status, err := runningCluster(ctx, s, r.Cluster)
	if err != nil {
		return RemovedAddon{}, err
	}
	tally := &tally{handler: s.Handler, verbose: s.Verbose}
	cluster, err := ship.Connect(ship.Kubeconfig{Path: status.Kubeconfig}, tally)
	if err != nil {
		return RemovedAddon{}, err
	}
	command := "slipway cluster remove " + chosen.Name
	if status.Name != clusters.DefaultCluster {
		command += " --cluster " + status.Name
	}
	o := ship.DeleteOptions{Set: addonSet(chosen), Consent: consent(s, r.Yes, "--yes", refuseDeletion(command)), Timeout: r.Timeout}
	s.Handler.Handle(report.Step{Name: "removing " + chosen.Name}) // deleting namespaces takes time
	if err := cluster.Delete(ctx, nil, o); err != nil {
		return RemovedAddon{}, err
	}
	answer := RemovedAddon{Cluster: status.Name, Addon: chosen.Name, Removed: len(tally.list())}
	s.Handler.Handle(report.Result{Text: removedText(answer), Value: answer})
	return answer, nil
}

func removedText(r RemovedAddon) string {
	if r.Removed == 0 {
		return "cluster " + r.Cluster + " has no " + r.Addon + " from slipway: nothing changed"
	}
	return "cluster " + r.Cluster + " has no " + r.Addon + " any more"
}
