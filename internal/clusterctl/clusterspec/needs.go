package clusterspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// A need is what the nodes of a cluster have to be for an option to have an effect. The zero value needs nothing.
type need struct {
	of   string // what the option is for
	met  func(Spec) bool
	hint string
}

func realNodes() need {
	return need{"real nodes", func(s Spec) bool { return s.NodeKind.RunContainers() },
		"add --nodes real; or leave the flag out, since an isolated node joins when an image is loaded, unless nodes are chosen"}
}

func containerPods() need {
	return need{"the pods of isolated nodes", func(s Spec) bool { return s.NodeKind.RunContainers() || s.Joins() },
		"add --nodes real; or leave out --nodes and --node, so that an isolated node joins when an image is loaded"}
}

func (n need) isMet(s Spec) bool { return n.met == nil || n.met(s) }

// CheckNeeds refuses what asked asks for and the nodes of cluster leave without effect. Start is the command that
// starts the cluster.
func CheckNeeds(asked, cluster Spec, start string) error {
	for _, o := range Options() {
		if o.needs.isMet(cluster) || !o.asks(asked) {
			continue
		}
		text := strings.Join(slices.Collect(maps.Values(o.texts(asked))), ",")
		return &report.Error{What: fmt.Sprintf("--%s is for %s, but the cluster has none", o.Flag, o.needs.of), Where: "--" + o.Flag, Hint: o.needs.hint,
			Next: start + " --nodes real --" + strings.TrimSuffix(o.Flag+" "+text, " true"), Code: report.UsageCode}
	}
	return nil
}

// asks reports whether s asks for another value than the default.
func (o Option) asks(s Spec) bool {
	for _, text := range o.texts(s) {
		if text != o.unset(s) {
			return true
		}
	}
	return false
}
