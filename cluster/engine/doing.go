package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// Doing reports what each component of the main cluster has to do, for people to read. It leaves out what is not known
// at the moment.
func (h *Host) Doing(ctx context.Context) map[string]string {
	doing := map[string]string{}
	if objects, bytes, err := h.store.Size(ctx, h.main.prefix+"/"); err == nil {
		doing[protocol.APIServer] = counted(objects, "object")
		doing[protocol.Etcd] = fmt.Sprintf("%.1f MiB of data", float64(bytes)/(1<<20))
	}
	if nodes := h.main.nodes.Load(); nodes != nil {
		doing[protocol.Controllers] = h.main.running()
		all, lost := nodes.Names(), nodes.Lost()
		doing[protocol.Nodes] = nodes.kinds().String()
		if len(lost) > 0 {
			doing[protocol.Nodes] = fmt.Sprintf("%d of %s; stopped: %s", len(all)-len(lost), nodes.kinds(), strings.Join(lost, ", "))
		}
		if n := nodes.panics(); n > 0 {
			doing[protocol.Nodes] += fmt.Sprintf("; kubelets panicked %s: `slipway cluster logs nodes` shows where", counted(n, "time"))
		}
		if m := h.main.reach.through(); m != nil {
			for _, what := range []string{m.Problem(), m.Unlimited()} {
				if what != "" {
					doing[protocol.Nodes] += "; " + what
				}
			}
		}
	}
	return doing
}

// running counts the controllers.
func (c *Cluster) running() string {
	all := len(controllers.All())
	if n := len(c.spec.Loops); n > 0 && n < all {
		return fmt.Sprintf("%d of %s", n, counted(all, "controller"))
	}
	return counted(all, "controller")
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
